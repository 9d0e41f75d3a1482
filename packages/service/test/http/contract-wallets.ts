// Contract wallets, in the few bytes that they need.
import { developmentAccount } from '@referrer/contracts/local'
import type { Address, Hex, LocalAccount } from 'viem'
import { transfer } from './chain.ts'
import type { TestMarket } from './market.ts'

/** Agrees to every signature (ERC-1271). */
export const AGREEABLE: Hex = '0x631626ba7e60e01b60005260206000f3'

/** Knows the signatures of its owner: asks `ecrecover`. */
export const ownedBy = (owner: Address): Hex =>
  `0x600435600052${'60a43560f81c602052'}606435604052608435606052${'602060806080600060015afa50'}60805173${owner.slice(2)}14${'631626ba7e0260e01b60005260206000f3'}`

/** Reverts, whatever it is asked. */
export const SULLEN: Hex = '0x600080fd'

/** Burns all the gas that it is given. */
export const GREEDY: Hex = '0x5b600056'

/** Agrees to every signature, but makes it dear for one caller: it fills a megabyte of memory, for two million gas. */
export const dearFor = (caller: Address): Hex =>
  `0x3373${caller.slice(2)}1415602257${'6000620f424052'}5b${AGREEABLE.slice(2)}`

/** Answers every call with what it was called with. */
export const ECHO: Hex = '0x366000600037366000f3'

let wallets = 0

/** Hands an agent to a new contract with this code. */
export async function giveToContract(
  m: TestMarket,
  owner: LocalAccount,
  agentId: bigint,
  bytecode: Hex,
): Promise<Address> {
  wallets += 1
  const { address } = developmentAccount(1_000 + wallets)
  await m.market.client.setCode({ address, bytecode })
  await transfer(m, owner, address, agentId)
  return address
}
