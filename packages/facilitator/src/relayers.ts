import { readContract } from '@referrer/chain'
import { withTimeout } from '@referrer/process'
import { splitRouterAbi } from '@referrer/protocol/abi'
import {
  type Address,
  formatEther,
  type Hex,
  hexToBigInt,
  isAddressEqual,
  keccak256,
  stringToBytes,
} from 'viem'
import type { Chain, Context } from './context.ts'

const SETTLER_ROLE = keccak256(stringToBytes('SETTLER_ROLE'))
/** The limit of a batch, and of each purchase in it: nodes want all of it to be there, though most comes back. */
const BATCH_GAS = 50_000n
const PURCHASE_GAS = 255_000n
const PATIENCE = { timeoutMs: 3_000 }

export interface RelayerState {
  address: Address
  /** Whether the router lets it settle. */
  isSettler: boolean
  /** In wei, like what a full batch costs now. */
  balance: bigint
  batchCost: bigint
  /** What keeps the remote signer that has its key from signing; undefined: nothing, or the key is here. */
  signerTrouble: string | undefined
}

/** Whether the router lets an account settle any purchase. */
export function isSettler(chain: Pick<Chain, 'rpc' | 'contracts'>, account: Address): Promise<boolean> {
  const read = {
    address: chain.contracts.SplitRouter,
    abi: splitRouterAbi,
    functionName: 'hasRole',
    args: [SETTLER_ROLE, account],
  } as const
  return readContract(chain, read, PATIENCE)
}

/** Reads role and balance of every relayer of a chain. Throws `RpcError`. */
export async function lookAtRelayers({ config }: Context, chain: Chain): Promise<RelayerState[]> {
  const { rpc, relayers, maxFeePerGas } = chain
  const gasPrice = rpc.request<Hex>('eth_gasPrice', [], PATIENCE).then(hexToBigInt)
  const states = relayers.map(async ({ address }) => {
    const [isAllowed, balance] = await Promise.all([
      isSettler(chain, address),
      rpc.request<Hex>('eth_getBalance', [address, 'latest'], PATIENCE).then(hexToBigInt),
    ])
    return { address, isSettler: isAllowed, balance }
  })
  // The sender offers up to twice the current price.
  const signer = withTimeout(PATIENCE.timeoutMs, chain.signerTrouble(), () => 'its signer does not answer')
  const [price, signerTrouble, ...found] = await Promise.all([gasPrice, signer, ...states])
  let fee = price * 2n
  if (fee > maxFeePerGas) fee = maxFeePerGas
  const batchCost = (BATCH_GAS + PURCHASE_GAS * BigInt(config.maxBatch)) * fee
  const hasKey = (address: Address) =>
    config.relayers.some((own) => own.privateKey && isAddressEqual(own.address, address))
  return found.map((state) => ({
    ...state,
    batchCost,
    signerTrouble: hasKey(state.address) ? undefined : signerTrouble,
  }))
}

/** What keeps a relayer from settling, and what to do; undefined: nothing. */
export function troubleOf(
  { contracts }: Chain,
  { address, isSettler, balance, batchCost, signerTrouble }: RelayerState,
): string | undefined {
  if (signerTrouble) return `${address} cannot sign: ${signerTrouble}`
  if (!isSettler) {
    return `${address} lacks SETTLER_ROLE: the admin of the split router ${contracts.SplitRouter} has to grant it`
  }
  if (balance >= batchCost) return undefined
  return `${address} has ${formatEther(balance)} for gas and a full batch costs up to ${formatEther(batchCost)}: send it some`
}
