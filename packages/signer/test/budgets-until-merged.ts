// In front of the whole marketplace, for as long as it has no GET /v1/spending-limits/budget of its own: answers that one from the caps that
// it keeps and the purchases on the chain, and hands everything else on. Where the route exists, it does nothing: remove this file then.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RequestSignature } from '@referrer/protocol'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { isAddressEqual } from 'viem'
import type { TestMarket } from '../../service/test/http/market.ts'

const BUDGET = '/v1/spending-limits/budget'

export async function withBudgets(m: TestMarket): Promise<{ url: string; close(): Promise<void> }> {
  async function handOn(incoming: IncomingMessage, path: string): Promise<Response> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { host: _, connection: __, 'content-length': ___, ...headers } = incoming.headers
    return fetch(`${m.service.url}${path}`, {
      method: incoming.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
  }

  /** The signature of a GET covers its time alone, so that it asks for the caps too. */
  async function budgetOf(incoming: IncomingMessage) {
    const caps = await handOn(incoming, (incoming.url ?? '').replace(BUDGET, '/v1/spending-limits'))
    const signed = RequestSignature.parse(new Headers(incoming.headers as Record<string, string>))
    const owner = await RequestSignature.recover({ ...signed, body: '' })
    const as_of_block = Number(await m.market.client.getBlockNumber())
    const none = { per_tx_cap_usdc: null, daily_cap_usdc: null, total_cap_usdc: null }
    const { per_tx_cap_usdc, total_cap_usdc } = caps.status === 404 ? none : await caps.json()
    const deposits = await m.market.client.getContractEvents({
      address: m.market.addresses.CommissionEscrow,
      abi: commissionEscrowAbi,
      eventName: 'EscrowDeposited',
      fromBlock: 0n,
      strict: true,
    })
    const spent = deposits
      .filter(({ args }) => isAddressEqual(args.payer, owner))
      .reduce((sum, { args }) => sum + Number(args.price), 0)
    return {
      chain_id: m.chainId,
      per_tx_cap_usdc,
      remaining_budget: total_cap_usdc === null ? null : Math.max(0, total_cap_usdc - spent),
      budget_enforced: total_cap_usdc !== null,
      as_of_block,
    }
  }

  const server = createServer(async (incoming, outgoing) => {
    const response = await handOn(incoming, incoming.url ?? '/')
    if (response.status === 404 && incoming.url?.startsWith(BUDGET)) {
      return void outgoing.end(JSON.stringify(await budgetOf(incoming)))
    }
    const type = response.headers.get('content-type') ?? ''
    outgoing.writeHead(response.status, { 'content-type': type })
    outgoing.end(Buffer.from(await response.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
