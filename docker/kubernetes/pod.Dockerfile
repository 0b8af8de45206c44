# The image of pods: the programs of docker/sandbox, and the guest as the bridge of this version has it. Both images that
# it begins with are built here (docs/guides/operator/kubernetes.md).
#   docker build -f docker/kubernetes/pod.Dockerfile -t REGISTRY/pilothouse-pod:VERSION docker/kubernetes

ARG SANDBOX=pilothouse-sandbox
ARG BRIDGE=pilothouse-kubernetes-bridge

FROM ${BRIDGE} AS bridge

FROM ${SANDBOX}
USER root
COPY --from=bridge /opt/pod/ /image/
# The engine that builds this does not let /etc/hosts be changed; the cluster writes it.
RUN cd /image/etc && cp -R $(ls | grep -vx hosts) /etc/
USER 1000:1000
WORKDIR /home/user
