// The health check of the container: whether the process answers. Metrics and health have a port of their own if METRICS_PORT is set.
const { METRICS_PORT, PORT } = process.env
const url = `http://127.0.0.1:${METRICS_PORT || PORT || 8080}/${process.argv[2] ?? 'healthz'}`
const answer = await fetch(url, { signal: AbortSignal.timeout(4_000) }).catch(() => undefined)
process.exitCode = answer?.ok ? 0 : 1
