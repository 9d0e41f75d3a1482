import { Gauge, type Registry } from 'prom-client'
import type { Replicas } from './replicas.ts'

/** Adds what is known of the replicas to the metrics; they are numbered from 1 in the order of their URLs. */
export function addReplicaFigures(replicas: Replicas, registry: Registry): void {
  const registers = [registry]
  const labelNames = ['replica']
  new Gauge({
    name: 'referrer_replica_lag_seconds',
    help: 'How far a replica lags behind the primary; absent while it does not answer',
    labelNames,
    registers,
    collect() {
      this.reset()
      for (const [at, { lagSeconds }] of replicas.states().entries())
        if (lagSeconds !== undefined) this.set({ replica: at + 1 }, lagSeconds)
    },
  })
  new Gauge({
    name: 'referrer_replica_used',
    help: 'Whether a replica serves reads',
    labelNames,
    registers,
    collect() {
      for (const [at, { isUsed }] of replicas.states().entries())
        this.set({ replica: at + 1 }, isUsed ? 1 : 0)
    },
  })
}
