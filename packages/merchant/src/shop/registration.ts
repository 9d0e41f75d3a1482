// The ERC-8004 registration file of a shop: what others who know the standard read of it.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { refusalOf, sendCall } from '@referrer/client/chain'
import { ProtocolError, Registration } from '@referrer/protocol'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import type { Hash } from 'viem'
import { requireGas, type Shop } from './connect.ts'
import { merchantOf } from './list.ts'
import { ShopError } from './report.ts'
import { mined, settle } from './send.ts'

export const REGISTRATION_FILE = 'agent-registration.json'

export interface RegistrationOptions {
  name?: string | undefined
  description?: string | undefined
  image?: string | undefined
  website?: string | undefined
  /** Where the file will be; left out, the URI holds the file itself. */
  url?: string | undefined
  /** Whether the URI is set on the chain. */
  isSet: boolean
}

export interface WrittenRegistration {
  merchantId: number
  path: string
  file: object
  /** Longer ones are not shown by the market. */
  uri: string
  transaction?: Hash
}

/** The market shows no URI that is longer, in bytes. */
const LONGEST_URI = 8_192

/** Writes the file into the folder; what is not said stays as the file there has it. */
export async function writeRegistration(
  shop: Shop,
  options: RegistrationOptions,
): Promise<WrittenRegistration> {
  const { project, deployment, reporter } = shop
  const merchantId = merchantOf(shop)
  const path = join(project.directory, REGISTRATION_FILE)
  const was = readWritten(path)
  const website = options.website ?? was?.services.find(({ name }) => name === 'web')?.endpoint
  const endpoints = Object.values(project.data.products ?? {}).flatMap(({ endpoint }) => endpoint ?? [])
  const name = options.name ?? was?.name
  const description = options.description ?? was?.description
  if (!name || !description) throw new ShopError('say what the shop is: --name <name> --description <text>')
  const text = serialized({
    name,
    description,
    image: options.image ?? was?.image ?? '',
    services: [
      ...(website ? [{ name: 'web', endpoint: website }] : []),
      ...endpoints.map((endpoint) => ({ name: 'x402', endpoint })),
    ],
    registrations: [
      {
        chainId: deployment.chainId,
        identityRegistry: deployment.contracts.IdentityRegistry,
        agentId: merchantId,
      },
    ],
    supportedTrust: ['reputation'],
    active: true,
    x402Support: true,
  })
  const file: object = JSON.parse(text)
  writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`)
  reporter.step({ name: 'file', changed: true, text: `wrote ${REGISTRATION_FILE}` })
  const uri = options.url ?? Registration.toDataUri(text)
  if (Buffer.byteLength(uri) > LONGEST_URI) {
    throw new ShopError(
      `the URI has ${Buffer.byteLength(uri)} bytes, and the market shows ${LONGEST_URI}: shorten the description, or put the file on a host of yours and name it with --url`,
    )
  }
  const transaction = options.isSet ? await setUri(shop, merchantId, uri) : undefined
  return { merchantId, path, file, uri, ...(transaction && { transaction }) }
}

/** Undefined when there is no file. */
function readWritten(path: string): Registration.Registration | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    return Registration.parse(text)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw new ShopError(`${path} cannot be read: ${error.message}. Correct or remove it`)
  }
}

function serialized(registration: Registration.Registration): string {
  try {
    return Registration.serialize(registration)
  } catch (error) {
    throw error instanceof ProtocolError ? new ShopError(error.message) : error
  }
}

/** Undefined when the identity has this URI already. */
async function setUri(shop: Shop, merchantId: number, uri: string): Promise<Hash | undefined> {
  const { client, wallet, deployment, reporter } = shop
  const registry = { address: deployment.contracts.IdentityRegistry, abi: identityRegistryAbi } as const
  await settle(shop)
  const current = await client.readContract({
    ...registry,
    functionName: 'tokenURI',
    args: [BigInt(merchantId)],
  })
  if (current === uri) {
    reporter.step({ name: 'uri', changed: false, text: `identity ${merchantId} has this URI` })
    return undefined
  }
  await requireGas(shop)
  const call = { ...registry, functionName: 'setAgentURI', args: [BigInt(merchantId), uri] } as const
  const transaction = await sendCall(client, wallet, call).catch((error: unknown) => {
    const refusal = refusalOf(error)
    if (refusal === undefined) throw error
    throw new ShopError(`the identity registry refuses setAgentURI: ${refusal}`, { cause: error })
  })
  await mined(shop, transaction, 'setAgentURI')
  reporter.step({ name: 'uri', changed: true, text: `identity ${merchantId} has a new URI`, transaction })
  return transaction
}
