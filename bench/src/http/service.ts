// The service as it is deployed; with the name of an implementation, signers are recovered by that one.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Recovery } from '@referrer/protocol'
import { readConfig, startService } from '@referrer/service'

// On SIGUSR2 garbage is collected: benchmarks of memory want to see what is in use.
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
process.on('SIGUSR2', () => collect())
const [only] = process.argv.slice(2)
const recovery = await Recovery.load(only as Recovery.Implementation | undefined)
const service = await startService(readConfig(process.env), { recovery })
process.on('SIGTERM', () => service.stop().then(() => process.exit(0)))
console.log(`listening on ${service.url} with ${recovery.implementation}`)
