// A signer that knows the marketplace's URL and a node only, and the faucet that the manifest names.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { mintUsdc } from '@referrer/contracts/local'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { type Address, getAddress, parseEther } from 'viem'
import { SILENT_BOT } from '../../service/test/http/market.ts'
import { type Marketplace, startMarketplace } from './marketplace.ts'
import { newStateDir } from './signer.ts'

export const PASSWORD = 'correct horse battery staple'
const USDC = 100_000_000n

export interface NewcomerPlace extends Marketplace {
  faucet: {
    /** Called with every request before it is answered; `false`: the connection is cut. */
    before: (() => unknown) | undefined
  }
  /** What a host that knows nothing else gives the signer, with a key store of its own. */
  nothing(change?: Record<string, string>): Record<string, string>
  /** How many identities an address has. */
  identitiesOf(address: Address): Promise<bigint>
}

/** The faucet is like the sandbox's: it fills an address up to 1 ETH and 100 USDC. */
export async function startNewcomerPlace(): Promise<NewcomerPlace> {
  let place: NewcomerPlace | undefined
  const faucet: NewcomerPlace['faucet'] = { before: undefined }
  const server = createServer(async (request, response) => {
    const { address } = (await json(request)) as { address: Address }
    if (!place || (await faucet.before?.()) === false) return void request.socket.destroy()
    const { market } = place.m
    await market.client.setBalance({ address, value: parseEther('1') })
    await mintUsdc(market, address, USDC)
    response.end(JSON.stringify({ address, eth: String(parseEther('1')), usdc: String(USDC) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const FAUCET_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const marketplace = await startMarketplace({ ...SILENT_BOT, FAUCET_URL })
  const { m } = marketplace
  place = Object.assign(marketplace, {
    faucet,
    nothing: (change: Record<string, string> = {}) => ({
      REFERRER_URL: m.service.url,
      BASE_RPC_URL: m.chains[0]?.chain.rpcUrl ?? '',
      SIGNER_PASSWORD: PASSWORD,
      SIGNER_STATE_DIR: newStateDir(),
      // Every test opens keys, and few are about what that costs.
      SIGNER_LIGHT_KEYS: 'true',
      ALLOW_PRIVATE_HOSTS: 'true',
      ...change,
    }),
    identitiesOf: (address: Address) =>
      m.market.client.readContract({
        address: m.market.addresses.IdentityRegistry,
        abi: identityRegistryAbi,
        functionName: 'balanceOf',
        args: [address],
      }),
  })
  const close = marketplace.close
  place.close = async () => {
    await close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return place
}

/** The addresses of the keys in a key store. */
export function keysIn(stateDir: string): Address[] {
  const folder = join(stateDir, 'keys')
  mkdirSync(folder, { recursive: true })
  return readdirSync(folder).map((name) => {
    const { address } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    return getAddress(`0x${address}`)
  })
}
