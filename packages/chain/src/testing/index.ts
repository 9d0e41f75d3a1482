export { type FaultName, type FaultProxy, type FaultRates, startFaultProxy } from './fault-proxy.ts'
export { int, pick, seeded, seedOf } from './random.ts'
