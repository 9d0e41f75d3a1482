// The contracts of each chain: there, wired as configured, running, and with our accounts in their roles.
import { readContract } from '@referrer/chain'
import { pendingAcceptances } from '@referrer/contracts/deploy'
import { findMiswiring, newestOf } from '@referrer/facilitator'
import { commissionEscrowAbi, sandboxUSDCAbi, splitRouterAbi } from '@referrer/protocol/abi'
import {
  type Address,
  createClient,
  custom,
  getAddress,
  type Hex,
  isAddressEqual,
  keccak256,
  numberToHex,
  publicActions,
  stringToBytes,
  toEventSelector,
  zeroHash,
} from 'viem'
import type { ReadableChain } from './chains.ts'
import { type Examination, fine, type Verdict, warning, wrong } from './examination.ts'
import type { Sender, Subject } from './subject.ts'

const ADVICE = 'look whether the nodes answer, and run it again'

export function checkContracts(
  examination: Examination,
  { accounts }: Subject,
  { chainId }: { chainId: number },
  chain: Promise<ReadableChain>,
): void {
  const group = `contracts on ${chainId}`
  const there = examination.check({
    group,
    name: 'code',
    needs: chain,
    advice: ADVICE,
    run: async (found) => {
      const verdict = await judgeCode(found)
      return { ...verdict, value: found }
    },
  })
  const check = (name: string, run: (chain: ReadableChain) => Promise<Verdict<undefined>>) =>
    examination.check<undefined, ReadableChain>({ group, name, needs: wired, advice: ADVICE, run })
  const wired = examination.check<ReadableChain, ReadableChain>({
    group,
    name: 'wiring',
    needs: there,
    advice: 'take all addresses from the address book of one deployment',
    run: judgeWiring,
  })
  check('not paused', judgePaused)
  for (const account of accounts) {
    check(`role of the ${account.job} ${account.address}`, (found) => judgeRole(found, account))
  }
  check('admin', (found) => judgeAdmin(found, accounts))
  check('hand-overs', judgeHandOvers)
}

async function judgeCode({ rpc, config, chainId }: ReadableChain): Promise<Verdict<undefined>> {
  const named = Object.entries(config.contracts).flatMap(([name, at]) =>
    [at].flat().map((address) => ({ name, address })),
  )
  const codes = named.map(({ address }) => rpc.request<Hex>('eth_getCode', [address, 'latest']))
  const found = await Promise.all(codes)
  const missing = named.filter((_, at) => found[at] === '0x')
  return missing.length === 0
    ? fine(`at all ${named.length} addresses`)
    : wrong(
        `nothing is deployed at ${missing.map(({ name, address }) => `${address} (${name})`).join(', ')}`,
        `take the addresses of chain ${chainId} from the address book of the deployment`,
      )
}

async function judgeWiring(chain: ReadableChain): Promise<Verdict<ReadableChain>> {
  const differing = await findMiswiring(chain.rpc, chain.config.contracts)
  return differing.length === 0
    ? fine('each contract works with the others that are configured', chain)
    : wrong(
        differing
          .map(
            ({ holder, name, actual, configured }) =>
              `${holder} works with ${name} ${actual}, not with ${configured}`,
          )
          .join('; '),
        'take all addresses from the address book of one deployment',
      )
}

async function judgePaused({ rpc, config }: ReadableChain): Promise<Verdict<undefined>> {
  const escrow = newestOf(config.contracts, 'CommissionEscrow')
  const read = { functionName: 'paused', args: [] } as const
  if (await readContract({ rpc }, { ...read, address: escrow, abi: commissionEscrowAbi })) {
    return wrong(
      `the escrow ${escrow} is paused: nothing is settled or paid out`,
      'find out why the guardian paused it; then the guardian calls unpause()',
    )
  }
  // Not every token can be paused.
  const isTokenPaused = await readContract(
    { rpc },
    { ...read, address: config.contracts.USDC, abi: sandboxUSDCAbi },
  ).catch(() => false)
  return isTokenPaused
    ? wrong('USDC is paused by its issuer: no payment can be made', 'wait until its issuer has ended that')
    : fine('escrow and USDC run')
}

const ROLES = {
  oracle: { role: 'ORACLE_ROLE', contract: 'CommissionEscrow' },
  publisher: { role: 'PUBLISHER_ROLE', contract: 'ReviewRegistry' },
  relayer: { role: 'SETTLER_ROLE', contract: 'SplitRouter' },
} as const

async function judgeRole(
  { rpc, config }: ReadableChain,
  { job, address, variable }: Sender,
): Promise<Verdict<undefined>> {
  const { role, contract } = ROLES[job]
  const at = newestOf(config.contracts, contract)
  const args = [keccak256(stringToBytes(role)), address] as const
  // All contracts with roles inherit this function.
  const read = { address: at, abi: splitRouterAbi, functionName: 'hasRole', args } as const
  return (await readContract({ rpc }, read))
    ? fine(role)
    : wrong(
        `${address} lacks ${role}`,
        `the admin of ${contract} ${at} grants it, or set ${variable} to the key of an account that has it`,
      )
}

const WITH_ADMIN = ['MerchantRegistry', 'ReviewRegistry', 'CommissionEscrow', 'SplitRouter'] as const
const ROLE_GRANTED = toEventSelector('RoleGranted(bytes32,address,address)')
/** The creation is soon after the block that the deployment began with. */
const CREATION_BLOCKS = 500n

async function judgeAdmin(chain: ReadableChain, accounts: readonly Sender[]): Promise<Verdict<undefined>> {
  const { rpc, config } = chain
  const admins = await Promise.all(
    WITH_ADMIN.map((name) =>
      readContract(
        { rpc },
        {
          address: newestOf(config.contracts, name),
          abi: splitRouterAbi,
          functionName: 'defaultAdmin',
          args: [],
        },
      ),
    ),
  )
  const own = accounts.find(({ address }) => admins.some((admin) => isAddressEqual(admin, address)))
  if (own) {
    return wrong(
      `the account of ${own.variable} (${own.address}) is the admin of the contracts`,
      'hand the admin over to a multisig, or give that job to another key: whoever steals it from this process could change everything',
    )
  }
  const deployer = await deployerOf(chain)
  return deployer && admins.some((admin) => isAddressEqual(admin, deployer))
    ? warning(
        `the deployer ${deployer} is still admin`,
        'let the admin of the file of the deployment run referrer accept; if it names none, name one and run referrer deploy',
      )
    : fine(`${[...new Set(admins)].join(', ')}`)
}

/** Who was made admin when the router was created; undefined where the node does not tell. */
async function deployerOf({ rpc, config, head }: ReadableChain): Promise<Address | undefined> {
  const { startBlock, contracts } = config
  let last = startBlock + CREATION_BLOCKS
  if (last > head.number) last = head.number
  const filter = {
    address: newestOf(contracts, 'SplitRouter'),
    topics: [ROLE_GRANTED, zeroHash],
    fromBlock: numberToHex(startBlock),
    toBlock: numberToHex(last),
  }
  const logs = await rpc.request<{ topics: Hex[] }[]>('eth_getLogs', [filter]).catch(() => [])
  const topic = logs[0]?.topics[2]
  return topic && getAddress(`0x${topic.slice(26)}`)
}

async function judgeHandOvers({ rpc, config }: ReadableChain): Promise<Verdict<undefined>> {
  const transport = custom({ request: ({ method, params }) => rpc.request(method, params ?? []) })
  const client = createClient({ transport }).extend(publicActions)
  const { contracts } = config
  const pending = await pendingAcceptances(client, {
    AddressRegistry: contracts.AddressRegistry,
    MerchantRegistry: contracts.MerchantRegistry,
    ReviewRegistry: contracts.ReviewRegistry,
    CommissionEscrow: newestOf(contracts, 'CommissionEscrow'),
    SplitRouter: newestOf(contracts, 'SplitRouter'),
  })
  return pending.length === 0
    ? fine('none waits')
    : warning(
        `not accepted yet: ${pending.map(({ title, by }) => `${title} (${by})`).join(', ')}`,
        'whoever is named runs referrer accept; until then the former admin is admin',
      )
}
