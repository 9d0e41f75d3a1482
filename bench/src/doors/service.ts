// The service as it is deployed, and its meter.
import { readConfig, startService } from '@referrer/service'
import { startMeter } from './meter.ts'

const service = await startService(readConfig(process.env))
const meter = await startMeter()
process.on('SIGTERM', () => service.stop().then(() => process.exit(0)))
console.log(`meter at ${meter}\nlistening on ${service.url}`)
