// The chain, as a program of its own. It begins with a block per transaction.
import { startLocalChain } from '@referrer/contracts/local'

const { rpcUrl, close } = await startLocalChain({ port: 0, keepsTime: true })
process.on('SIGTERM', () => close().then(() => process.exit(0)))
console.log(`listening on ${rpcUrl}`)
