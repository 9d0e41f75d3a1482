// Contract wallets as minimal bytecode.
import { developmentAccount } from '@referrer/contracts/local'
import type { Address, Hex, LocalAccount } from 'viem'
import { transfer } from './chain.ts'
import type { TestMarket } from './market.ts'

/** Accepts every signature (ERC-1271). */
export const ACCEPTING: Hex = '0x631626ba7e60e01b60005260206000f3'

/** Accepts the signatures of its owner, by `ecrecover`. */
export const ownedBy = (owner: Address): Hex =>
  `0x600435600052${'60a43560f81c602052'}606435604052608435606052${'602060806080600060015afa50'}60805173${owner.slice(2)}14${'631626ba7e0260e01b60005260206000f3'}`

/** Reverts on every call. */
export const REVERTING: Hex = '0x600080fd'

/** Burns all the gas that it gets. */
export const GAS_BURNING: Hex = '0x5b600056'

/** Accepts every signature, but is expensive for one caller: it fills a megabyte of memory, for two million gas. */
export const expensiveFor = (caller: Address): Hex =>
  `0x3373${caller.slice(2)}1415602257${'6000620f424052'}5b${ACCEPTING.slice(2)}`

/** Returns its call data. */
export const ECHO: Hex = '0x366000600037366000f3'

let wallets = 0

/** Transfers an agent to a new contract with this code. */
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
