import {
  commissionEscrowAbi,
  identityRegistryAbi,
  merchantRegistryAbi,
  reviewRegistryAbi,
} from '@referrer/protocol/abi'
import { createConfig } from 'ponder'
import { CHAIN_ID } from '../src/index/chain.ts'
import { CONTRACTS } from '../src/index/contracts.ts'

const { RPC_URLS = '', DATABASE_URL = '', POLL_INTERVAL_MS = '' } = process.env

export default createConfig({
  database: { kind: 'postgres', connectionString: DATABASE_URL },
  chains: {
    // Ponder holds itself to 20 requests a second and endpoint at first; as many endpoints as it likes keep that out of the measurement.
    recorded: { id: CHAIN_ID, rpc: RPC_URLS.split(','), pollingInterval: Number(POLL_INTERVAL_MS) },
  },
  contracts: {
    Identities: { chain: 'recorded', abi: identityRegistryAbi, address: CONTRACTS.identities, startBlock: 0 },
    Merchants: { chain: 'recorded', abi: merchantRegistryAbi, address: CONTRACTS.merchants, startBlock: 0 },
    Reviews: { chain: 'recorded', abi: reviewRegistryAbi, address: CONTRACTS.reviews, startBlock: 0 },
    Escrow: { chain: 'recorded', abi: commissionEscrowAbi, address: CONTRACTS.escrow, startBlock: 0 },
  },
})
