"""The data classes of everword, all frozen. They hold data and know nothing of storage, models or clocks.

A message is said once, and what is made of it later is a version of it. Everything that can be derived from messages is
a view: it can be thrown away and built again.
"""

from everword.model.contexts_and_budgets import *
from everword.model.facts import *
from everword.model.log import *
from everword.model.people import *
from everword.model.views import *
from everword.secrets import SecretMark
