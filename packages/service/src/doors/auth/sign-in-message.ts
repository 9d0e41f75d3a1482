// A strict parser of the message that a wallet signs to sign in (EIP-4361).
import { type Address, getAddress } from 'viem'
import { moment } from '../../kit/fields.ts'

export interface SignInMessage {
  scheme: string | undefined
  domain: string
  address: Address
  uri: string
  version: string
  chainId: number
  nonce: string
  issuedAt: Date
  expirationTime: Date | undefined
  notBefore: Date | undefined
}

/** Length limit in characters. */
export const LONGEST_MESSAGE = 8_192

const FORM = new RegExp(
  [
    '^(?:(?<scheme>[a-zA-Z][a-zA-Z0-9+.-]*)://)?(?<domain>[^\\s/?#]+) wants you to sign in with your Ethereum account:',
    '(?<address>0x[0-9a-fA-F]{40})',
    '',
    '(?:[^\\n]+\\n)?',
    'URI: (?<uri>\\S+)',
    'Version: (?<version>\\S+)',
    'Chain ID: (?<chainId>\\d{1,15})',
    'Nonce: (?<nonce>[a-zA-Z0-9]{8,})',
    'Issued At: (?<issuedAt>\\S+)(?:\\nExpiration Time: (?<expirationTime>\\S+))?(?:\\nNot Before: (?<notBefore>\\S+))?(?:\\nRequest ID: \\S*)?(?:\\nResources:(?:\\n- \\S+)*)?$',
  ].join('\\n'),
)

const time = moment('', '')

/** Returns undefined when the text is not a valid message. */
export function parseSignInMessage(text: string): SignInMessage | undefined {
  const found = FORM.exec(text)?.groups
  if (!found) return undefined
  const { scheme, domain = '', address = '', uri = '', version = '', chainId, nonce = '' } = found
  const [issuedAt, expirationTime, notBefore] = [found.issuedAt, found.expirationTime, found.notBefore].map(
    (given) => (given === undefined ? undefined : time.safeParse(given)),
  )
  if (!issuedAt?.success || expirationTime?.success === false || notBefore?.success === false)
    return undefined
  return {
    scheme,
    domain,
    address: getAddress(address.toLowerCase()),
    uri,
    version,
    chainId: Number(chainId),
    nonce,
    issuedAt: issuedAt.data,
    expirationTime: expirationTime?.data,
    notBefore: notBefore?.data,
  }
}
