import { readArtifact } from '@referrer/contracts/deploy'
import { developmentAccount, type LocalChain, privateKeyOf, startLocalChain } from '@referrer/contracts/local'
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import { type Address, encodeFunctionData, type Hex, parseGwei } from 'viem'
import { type FaultProxy, int, pick, startFaultProxy } from '../testing/index.ts'
import { freshAddress } from './fixture.ts'

/** Every outcome this deep is final: reorganisations are shallower. */
export const CONFIRMATIONS = 4
const FAULTS = {
  hang: 0.01,
  delay: 0.03,
  reset: 0.02,
  http500: 0.02,
  rateLimit: 0.02,
  garbage: 0.02,
  lag: 0.05,
  lieAboutLatest: 0.05,
  loseAnswer: 0.05,
  dropTransaction: 0.2,
}
/** Keeps what it is given in blocks of even height, reverts in the others. */
const MOODY: Hex = '0x43600116600757005b60006000fd'

export interface World {
  chainId: number
  chain: LocalChain
  proxies: FaultProxy[]
  signers: { account: ReturnType<typeof developmentAccount>; key: Hex; token: Address }[]
  moody: Address
  /** Hashes of what others sent with our signers' keys. */
  foreign: Hex[]
  mine(blocks?: number): Promise<void>
  reorganise(): Promise<void>
  dropFromPool(): Promise<void>
  /** Sends something else with the nonce of one of ours that waits. */
  useNonce(): Promise<void>
  calm(): void
  close(): Promise<void>
}

/** A chain that does to a sender what chains do, and two bad nodes in front of it. */
export async function createWorld(chainId: number, random: () => number): Promise<World> {
  const chain = await startLocalChain({ chainId, port: 0 })
  const { client } = chain
  const deployer = developmentAccount(0)
  const { abi, bytecode } = readArtifact('SandboxUSDC')

  const foreign: Hex[] = []
  async function addSigner(index: number) {
    const account = developmentAccount(index)
    const hash = await client.deployContract({ abi, bytecode, args: [account.address], account: deployer })
    const { contractAddress } = await client.waitForTransactionReceipt({ hash })
    if (!contractAddress) throw new Error('the token was not deployed')
    // The first mint ever costs more than all later ones: a reorganisation must not make a first one of what was estimated as a later one.
    foreign.push(await client.sendTransaction({ account, to: contractAddress, data: mint(freshAddress()) }))
    return { account, key: privateKeyOf(account), token: contractAddress }
  }
  const signers = [await addSigner(1), await addSigner(2)]
  const moody = freshAddress()
  await client.setCode({ address: moody, bytecode: MOODY })
  await client.setAutomine(false)
  // So that a node that lags still has the contracts.
  await client.mine({ blocks: 20 })

  const target = chain.rpcUrl ?? ''
  const proxies = [
    await startFaultProxy({ target, random, faults: FAULTS }),
    await startFaultProxy({ target, random, faults: FAULTS }),
  ]
  /** Where one can go back to, newest last. */
  let past: { snapshot: Hex; height: bigint }[] = []

  async function mine(blocks = 1) {
    for (let block = 0; block < blocks; block += 1) {
      past.push({ snapshot: await client.snapshot(), height: await client.getBlockNumber() })
      await client.mine({ blocks: 1 })
    }
    past = past.slice(-CONFIRMATIONS * 2)
  }

  const pool = async () => (await client.getBlock({ blockTag: 'pending' })).transactions

  async function dropFromPool() {
    const hashes = await pool()
    if (hashes.length > 0) await client.dropTransaction({ hash: pick(random, hashes) })
  }

  return {
    chainId,
    chain,
    proxies,
    signers,
    moody,
    foreign,
    mine,
    dropFromPool,
    async reorganise() {
      const height = await client.getBlockNumber()
      const depth = int(random, 1, CONFIRMATIONS - 1)
      const target = past.find((point) => point.height === height - BigInt(depth))
      if (!target) return
      await client.revert({ id: target.snapshot })
      past = past.slice(0, past.indexOf(target))
      if (random() < 0.7) await Promise.all((await pool()).map((hash) => client.dropTransaction({ hash })))
      await mine(depth + 1)
    },
    async useNonce() {
      const { transactions } = await client.getBlock({ blockTag: 'pending', includeTransactions: true })
      const waiting = signers.filter(({ account }) =>
        transactions.some(({ from }) => from === account.address.toLowerCase()),
      )
      if (waiting.length === 0) return
      const { account } = pick(random, waiting)
      const serializedTransaction = await account.signTransaction({
        type: 'eip1559',
        chainId,
        nonce: await client.getTransactionCount({ address: account.address }),
        to: freshAddress(),
        gas: 21_000n,
        maxFeePerGas: parseGwei('500'),
        maxPriorityFeePerGas: parseGwei('100'),
      })
      // Refused when what waits pays as well, as an earlier one of these does.
      const hash = await client.sendRawTransaction({ serializedTransaction }).catch(() => undefined)
      if (hash) foreign.push(hash)
    },
    calm() {
      for (const proxy of proxies) proxy.setFaults({})
    },
    async close() {
      await Promise.all(proxies.map((proxy) => proxy.close()))
      await chain.close()
    },
  }
}

export const mint = (to: Address): Hex =>
  encodeFunctionData({ abi: sandboxUSDCAbi, functionName: 'mint', args: [to, 1n] })
