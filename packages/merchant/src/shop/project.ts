// The file `referrer.json` of a shop's folder: what the commands know of it. Nothing in it is secret.
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Network } from '@referrer/client/chain'
import { networkNamed } from '@referrer/client/chain'
import { ProductId } from '@referrer/protocol'
import { type Address, type Hash, type Hex, isAddress } from 'viem'
import { ShopError } from './report.ts'

export const PROJECT_FILE = 'referrer.json'

export interface ProjectProduct {
  id: Hex
  name: string
  endpoint?: string
}

export interface ProjectData {
  network?: Network['name']
  market?: string
  rpc?: string
  chainId?: number
  /** The one that the shop was opened with: a market that later names another one is refused. */
  addressRegistry?: Address
  facilitator?: string
  /** The owner's encrypted key, from this folder. */
  key?: string
  merchantId?: number
  /** The address of the server's hot key. */
  settlementSigner?: Address
  /** A signed registration whose result is not known yet. Sending it again cannot mint a second identity. */
  pendingIdentity?: { transaction: Hash; raw: Hex; nonce: number }
  products?: Record<string, ProjectProduct>
  /** What create-referrer-shop was told, so that a second run continues the first. */
  setup?: Record<string, string>
}

export interface Project {
  readonly directory: string
  readonly data: Readonly<ProjectData>
  save(changes: ProjectData): void
  /** Also forgets what is not named. */
  replace(data: ProjectData): void
}

export function readProject(directory: string): Project {
  const path = join(directory, PROJECT_FILE)
  const replace = (next: ProjectData) => {
    if (!isDeepStrictEqual(next, read(path))) write(path, next)
  }
  const project: Project = {
    directory,
    // Read each time: another run in the same folder may have minted the identity meanwhile.
    get data() {
      return read(path)
    },
    save: (changes) => replace({ ...read(path), ...changes }),
    replace,
  }
  // What cannot be used is refused before anything is done.
  read(path)
  return project
}

function read(path: string): ProjectData {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
  const wrong = (what: string) =>
    new ShopError(`${path} cannot be used: ${what}. Correct it, or remove it and run open --merchant-id <id>`)
  let data: ProjectData
  try {
    data = JSON.parse(text)
  } catch {
    throw wrong('it is not JSON')
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw wrong('it is not an object')
  const { network, merchantId, addressRegistry, settlementSigner, products = {} } = data
  if (network !== undefined && !networkNamed(String(network)))
    throw wrong(`it names the network "${network}"`)
  if (merchantId !== undefined && (!Number.isSafeInteger(merchantId) || merchantId < 0)) {
    throw wrong('merchantId is not a whole number')
  }
  for (const address of [addressRegistry, settlementSigner]) {
    if (address !== undefined && !isAddress(address)) throw wrong(`"${address}" is not an address`)
  }
  for (const [slug, product] of Object.entries(products)) {
    try {
      ProductId.parse(product.id)
    } catch {
      throw wrong(`the id of product "${slug}" is not 32 bytes of hex`)
    }
  }
  return data
}

/** By a rename: a crash leaves the former file or the new one. */
function write(path: string, data: ProjectData): void {
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.${randomBytes(4).toString('hex')}.new`
  const file = openSync(draft, 'wx')
  try {
    writeSync(file, `${JSON.stringify(data, null, 2)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
}

/** By its name in the file, by its id, or the only one. */
export function findProduct(
  { data: { products = {} } }: Project,
  given?: string,
): { slug: string } & ProjectProduct {
  const all = Object.entries(products).map(([slug, product]) => ({ slug, ...product }))
  const [first, second] = all
  if (given === undefined) {
    if (first && !second) return first
    throw new ShopError(
      first
        ? `say which product: --product ${all.map(({ slug }) => slug).join(' or --product ')}`
        : 'no product is listed from this folder: run referrer-merchant list --name <name> --price <USDC> --commission <percent>',
    )
  }
  const found = all.find(
    ({ slug, id, name }) => given === slug || given === name || given.toLowerCase() === id,
  )
  if (found) return found
  try {
    const id = ProductId.parse(given)
    return { slug: id, id, name: '' }
  } catch {
    throw new ShopError(
      `no product of this folder is called "${given}": there ${all.length === 1 ? 'is' : 'are'} ${all.map(({ slug }) => slug).join(', ') || 'none'}`,
    )
  }
}
