import { ProtocolError, Recovery, RequestSignature } from '@referrer/protocol'
import {
  type Address,
  concatBytes,
  keccak256,
  numberToBytes,
  recoverMessageAddress,
  stringToBytes,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createParts } from './parts.ts'
import { report } from './report.ts'

type Request = RequestSignature.SignedRequest & { body: Uint8Array; signer: Address }
type Contender = { name: string; recover(request: Request): Promise<Address>; rounds: number[] }

const ROUNDS = 8
const ROUND_MS = 1_000
const SIGNERS = 64
const TARGETS: Record<string, string> = { native: '≥ 10', wasm: '≥ 5' }

const HELP = `bench:signatures: who signed this request, and how many a second one core can answer

Each operation hashes the body with its timestamp, recovers the signer and gives the checksummed address. Compared:
  native   @referrer/protocol on the secp256k1 addon
  wasm     @referrer/protocol on WebAssembly
  viem     keccak256 and recoverMessageAddress of viem, what one would write without the package
The contenders take turns for ${ROUNDS} rounds on the same requests; the figure is the median round.`

if (process.argv.includes('--help')) {
  console.log(HELP)
} else {
  await main()
}

async function main() {
  const requests = await Promise.all(Array.from({ length: SIGNERS }, (_, index) => signedRequest(index)))
  const parts = createParts()
  const all: Contender[] = [...(await ours()), { name: 'viem', recover: recoverWithViem, rounds: [] }]
  const measure = async (contender: Contender, work: () => Promise<void>) => {
    if (!parts.failed.has(contender.name)) await parts.run(contender.name, work)
  }
  for (const contender of all) await measure(contender, () => checkAndWarmUp(contender, requests))
  for (let round = 0; round < ROUNDS; round++) {
    for (const contender of all)
      await measure(contender, async () => {
        contender.rounds.push(await operationsPerSecond(contender.recover, requests))
      })
  }

  const contenders = all.filter(({ name }) => !parts.failed.has(name))
  const figures = Object.fromEntries(
    contenders.map(({ name, rounds }) => [`${name}_ops_per_second`, median(rounds)]),
  )
  const baseline = figures.viem_ops_per_second ?? Number.NaN
  const ratioOf = (name: string) => (figures[`${name}_ops_per_second`] ?? Number.NaN) / baseline
  const named = contenders.map(({ name }) => name).filter((name) => name !== 'viem')
  report({
    name: 'signatures',
    figures,
    ratios: Object.fromEntries(named.map((name) => [`${name}_to_viem`, ratioOf(name)])),
    rows: contenders.map(({ name }) => ({
      recovery: name,
      'ops/s': Math.round(figures[`${name}_ops_per_second`] ?? Number.NaN),
      'to viem': ratioOf(name).toFixed(1),
      target: TARGETS[name] ?? '',
    })),
    failed: parts.failed,
  })
}

/** A machine may lack the addon's build: then the table goes without that line. */
async function ours(): Promise<Contender[]> {
  const contenders: Contender[] = []
  for (const name of ['native', 'wasm'] as const) {
    try {
      const recovery = Recovery.load(name)
      await recovery
      contenders.push({ name, recover: (request) => RequestSignature.recover(request, recovery), rounds: [] })
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      console.log(`${name}: ${error.message}`)
    }
  }
  return contenders
}

async function recoverWithViem({ body, timestamp, signature }: Request): Promise<Address> {
  const raw = keccak256(concatBytes([body, numberToBytes(timestamp, { size: 8 })]))
  return recoverMessageAddress({ message: { raw }, signature })
}

/** About the size of a settlement: the body that a busy server checks most. */
async function signedRequest(index: number): Promise<Request> {
  const account = privateKeyToAccount(generatePrivateKey())
  const body = stringToBytes(JSON.stringify({ x402Version: 2, index, paymentPayload: 'p'.repeat(1_200) }))
  const signature = await RequestSignature.sign(account, body, 1_750_000_000 + index)
  return { body, ...signature, signer: account.address }
}

async function checkAndWarmUp({ name, recover }: Contender, requests: readonly Request[]) {
  for (const request of requests) {
    if ((await recover(request)) !== request.signer) throw new Error(`${name} recovered the wrong signer`)
  }
}

async function operationsPerSecond(
  recover: Contender['recover'],
  requests: readonly Request[],
): Promise<number> {
  const start = performance.now()
  let operations = 0
  while (performance.now() - start < ROUND_MS) {
    for (const request of requests) await recover(request)
    operations += requests.length
  }
  return (operations * 1_000) / (performance.now() - start)
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle) - 1] ?? Number.NaN)) / 2
}
