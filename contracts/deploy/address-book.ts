import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Addresses } from './plan.ts'

export interface AddressBook {
  chainId: number
  /** No event of the protocol is older than this block. */
  startBlock: number
  contracts: Addresses
}

/** Where the book of a chain is kept unless another place is named. */
export const defaultBook = (chainId: number): string =>
  fileURLToPath(new URL(`../deployments/${chainId}.json`, import.meta.url))

/** The book of an earlier run, if there is one. */
export function readAddressBook(path: string, chainId: number): AddressBook | undefined {
  if (!existsSync(path)) return undefined
  const book: AddressBook = JSON.parse(readFileSync(path, 'utf8'))
  if (book.chainId !== chainId)
    throw new Error(`${path} is the address book of chain ${book.chainId}, not of ${chainId}`)
  return book
}

export function writeAddressBook(path: string, book: AddressBook): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.new`, `${JSON.stringify(book, null, 2)}\n`)
  renameSync(`${path}.new`, path)
}
