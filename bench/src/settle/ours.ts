// Our facilitator as it is deployed.
import { readConfig, startFacilitator } from '@referrer/facilitator'

const facilitator = await startFacilitator(readConfig(process.env))
process.on('SIGTERM', () => facilitator.stop().then(() => process.exit(0)))
console.log(`listening on ${facilitator.url}`)
