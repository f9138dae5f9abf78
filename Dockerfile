# The server, from this folder:  docker build -t everword .
# Two stages: what builds the package stays behind; what runs it has no compiler and is nobody's root.
FROM python:3.11.11-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/everword \
    && /opt/everword/bin/pip install --no-cache-dir ".[server,postgres,openai,telegram,discord]"

FROM python:3.11.11-slim-bookworm
RUN useradd --system --uid 10001 --create-home --home-dir /data everword
COPY --from=build /opt/everword /opt/everword
ENV PATH="/opt/everword/bin:$PATH" \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
WORKDIR /data
VOLUME /data
USER 10001
EXPOSE 8000
# SIGTERM lets it finish what is in hand: give it longer than `server_grace` before it is killed.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
ENTRYPOINT ["everword"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
