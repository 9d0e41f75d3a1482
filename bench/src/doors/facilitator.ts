// The facilitator as it is deployed, and its meter.
import { readConfig, startFacilitator } from '@referrer/facilitator'
import { startMeter } from './meter.ts'

const facilitator = await startFacilitator(readConfig(process.env))
const meter = await startMeter()
process.on('SIGTERM', () => facilitator.stop().then(() => process.exit(0)))
console.log(`meter at ${meter}\nlistening on ${facilitator.url}`)
