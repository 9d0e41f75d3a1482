import type { Transaction } from '@referrer/database'
import { zeroAddress } from 'viem'
import type { EventOf } from '../../kit/events.ts'
import {
  Changes,
  insertRows,
  learnedAgain,
  type Row,
  type Table,
  writeChanges,
} from '../../machinery/db/rows.ts'
import { readAgain } from '../registrations/store.ts'

export type IdentityEvent = EventOf<'IdentityRegistry'>

const identities: Table = {
  name: 'chain.identities',
  key: { chain_id: 'bigint', agent_id: 'bigint' },
  columns: { owner: 'bytea', wallet: 'bytea', uri: 'text', minted_at: 'time', transferred_at: 'time' },
}

const ownershipChanges: Table = {
  name: 'chain.ownership_changes',
  key: { chain_id: 'bigint', block_number: 'bigint', log_index: 'integer' },
  columns: { agent_id: 'bigint', from_owner: 'bytea', to_owner: 'bytea', changed_at: 'time' },
}

const records: Table = {
  name: 'market.agents',
  key: { chain_id: 'bigint', agent_id: 'bigint' },
  columns: { learned_in: 'bigint' },
}

const ADDRESS_LENGTH = 42

/** Indexes the identities of agents: their existence, owners and payment wallets. */
export async function applyIdentityEvents(
  tx: Transaction,
  chainId: number,
  events: IdentityEvent[],
  isFinal: boolean,
): Promise<void> {
  const rows = new Changes()
  const changesOfHands: Row[] = []
  const minted: Row[] = []
  const moved: bigint[] = []
  for (const event of events) {
    const at = event.timestamp
    if (event.name === 'Transfer') {
      const { from, to, tokenId: agent_id } = event.args
      const key = { chain_id: chainId, agent_id }
      if (from === zeroAddress) {
        rows.create(key, { owner: to, wallet: zeroAddress, uri: '', minted_at: at })
        minted.push({ ...key, learned_in: isFinal ? null : event.blockNumber })
      } else {
        rows.change(key, { owner: to, wallet: zeroAddress, transferred_at: at })
      }
      const position = { chain_id: chainId, block_number: event.blockNumber, log_index: event.logIndex }
      changesOfHands.push({ ...position, agent_id, from_owner: from, to_owner: to, changed_at: at })
      continue
    }
    const key = { chain_id: chainId, agent_id: event.args.agentId }
    if (event.name === 'Registered') {
      rows.change(key, { uri: event.args.agentURI })
      // It may have been registered here before its block was indexed.
      if (event.args.agentURI !== '') moved.push(event.args.agentId)
    } else if (event.name === 'URIUpdated') {
      rows.change(key, { uri: event.args.newURI })
      moved.push(event.args.agentId)
    } else if (event.args.metadataKey === 'agentWallet') {
      const { metadataValue } = event.args
      rows.change(key, { wallet: metadataValue.length === ADDRESS_LENGTH ? metadataValue : zeroAddress })
    }
  }
  await Promise.all([
    writeChanges(tx, identities, rows),
    insertRows(tx, ownershipChanges, changesOfHands),
    insertRows(tx, records, minted, learnedAgain(records)),
    readAgain(tx, chainId, moved),
  ])
}

/** Deletes agents that were indexed from blocks which a reorganisation dropped, once that is final. Registered agents stay. */
export async function finalizeAgents(tx: Transaction, chainId: number, final: bigint): Promise<void> {
  await tx`
    DELETE FROM market.agents AS a
    WHERE chain_id = ${chainId} AND learned_in <= ${final} AND registered_at IS NULL AND NOT EXISTS (
      SELECT FROM chain.identities AS i WHERE i.chain_id = a.chain_id AND i.agent_id = a.agent_id)`
  await tx`
    UPDATE market.agents SET learned_in = NULL WHERE chain_id = ${chainId} AND learned_in <= ${final}`
}
