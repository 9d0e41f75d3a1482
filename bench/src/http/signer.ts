// A thread that signs the requests it is sent.
import { parentPort, workerData } from 'node:worker_threads'
import { RequestSignature } from '@referrer/protocol'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Request } from './request.ts'
import { AHEAD_SECONDS, SECONDS } from './signing.ts'

const accounts = (workerData as Hex[]).map((key) => privateKeyToAccount(key))
let count = 0

parentPort?.on('message', async (requests: Request[]) => {
  const latest = Math.floor(Date.now() / 1_000) + AHEAD_SECONDS
  const signed: Request[] = []
  for (const request of requests) signed.push(await sign(request, latest))
  parentPort?.postMessage(signed)
})

async function sign(request: Request, latest: number): Promise<Request> {
  const account = accounts[count % accounts.length]
  if (!account) throw new Error('a signer needs accounts')
  const behind = Math.floor(count / accounts.length) % SECONDS
  count += 1
  const signature = await RequestSignature.sign(account, request.body ?? '', latest - behind)
  return { ...request, headers: { ...request.headers, ...RequestSignature.serialize(signature) } }
}
