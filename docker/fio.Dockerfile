# fio for the profile demo; there is no official image.
FROM debian:trixie-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends fio \
 && rm -rf /var/lib/apt/lists/*
# A named volume on /data gets its owner from here.
RUN install -d -o 10006 -g 10006 /data
USER 10006:10006
