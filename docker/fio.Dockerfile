# fio of the profile demo; there is no official image of it.
FROM debian:trixie-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends fio \
 && rm -rf /var/lib/apt/lists/*
# A named volume on /data takes its owner from here.
RUN install -d -o 10001 -g 10001 /data
USER 10001:10001
