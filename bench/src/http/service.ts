// The service as it is deployed; with the name of an implementation, signers are recovered by that one.
import { Recovery } from '@referrer/protocol'
import { readConfig, startService } from '@referrer/service'

const [only] = process.argv.slice(2)
const recovery = await Recovery.load(only as Recovery.Implementation | undefined)
const service = await startService(readConfig(process.env), { recovery })
process.on('SIGTERM', () => service.stop().then(() => process.exit(0)))
console.log(`listening on ${service.url} with ${recovery.implementation}`)
