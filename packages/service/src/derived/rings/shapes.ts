// What admins see of a suspected ring.
import type { Recovery } from '@referrer/protocol'
import { z } from 'zod'
import { accountShown, hex32, momentShown, wholeNumber } from '../../kit/fields.ts'
import { address, hex, time, whole } from '../../kit/json-values.ts'
import { baseUnits } from '../../kit/money.ts'
import { MOST, type RingCase } from './operations.ts'
import { type RingRow, type RingVoteRow, STATES } from './store.ts'

const millionths = wholeNumber.meta({ about: 'In millionths.' })

export const Ring = z
  .object({
    ring_id: wholeNumber,
    state: z.enum(STATES).meta({
      about: 'acted: all agents of its members are flagged. dismissed: an admin has found nothing wrong.',
    }),
    members: wholeNumber.meta({ about: 'How many owners.' }),
    shops: wholeNumber.meta({ about: 'How many shops, none of them verified, they vote at.' }),
    votes_inside: wholeNumber.meta({ about: 'Votes of members for each other at these shops.' }),
    votes_all: wholeNumber.meta({ about: 'All votes of members, of the last 360 days.' }),
    spent_inside_usdc: baseUnits('What members spent at these shops, faded'),
    spent_all_usdc: baseUnits('What members spent at all shops, faded'),
    standing: millionths.meta({ about: 'The mean of the members, in millionths.' }),
    first_vote_at: momentShown,
    last_vote_at: momentShown,
    found_at: momentShown.meta({ about: 'When it was found for the first time.' }),
    seen_at: momentShown.meta({ about: 'When it was found last.' }),
    note: z.string().nullable().meta({ about: 'Why it was dismissed, also if it is open again.' }),
    dismissed_at: momentShown.nullable(),
    dismissed_by: accountShown.nullable(),
  })
  .meta({ id: 'Ring' })

export const RingCaseShown = Ring.extend({
  owners: z
    .array(
      z.object({
        owner: accountShown,
        standing: millionths.nullable(),
        votes_cast: wholeNumber.meta({ about: 'For other members.' }),
        votes_got: wholeNumber.meta({ about: 'From other members.' }),
        agents: z
          .array(z.object({ agent_id: wholeNumber, flagged: z.boolean() }))
          .meta({ about: `That it owns now, at most ${MOST.agents}.` }),
      }),
    )
    .meta({ about: `The members with the most votes first, at most ${MOST.members}.` }),
  places: z
    .array(
      z.object({
        merchant_id: wholeNumber,
        owner: accountShown.nullable(),
        standing: millionths.nullable(),
        votes: wholeNumber,
        spent_usdc: baseUnits('What members spent here, faded'),
      }),
    )
    .meta({ about: `The shops with the most votes first, at most ${MOST.shops}.` }),
  pairs: z
    .array(z.object({ voter: accountShown, author: accountShown, votes: wholeNumber }))
    .meta({ about: `Who voted for whom, the most votes first, at most ${MOST.pairs}.` }),
}).meta({ id: 'RingCase' })

export const RingVote = z
  .object({
    cast_at: momentShown,
    voter_agent_id: wholeNumber,
    voter: accountShown,
    author_agent_id: wholeNumber,
    author: accountShown,
    merchant_id: wholeNumber,
    product_id: hex32,
    internal_id: wholeNumber.meta({ about: 'The review that was voted for.' }),
    reasoning: z.string(),
    weight: millionths,
  })
  .meta({ id: 'RingVote' })

export const ringJson = (recovery: Recovery.Recovery, row: RingRow): z.output<typeof Ring> => ({
  ring_id: whole(row.ring_id),
  state: row.state,
  members: row.members,
  shops: row.shops,
  votes_inside: row.votes_inside,
  votes_all: row.votes_all,
  spent_inside_usdc: whole(row.spent_inside),
  spent_all_usdc: whole(row.spent_all),
  standing: row.standing,
  first_vote_at: time(row.first_vote_at),
  last_vote_at: time(row.last_vote_at),
  found_at: time(row.found_at),
  seen_at: time(row.seen_at),
  note: row.note,
  dismissed_at: row.dismissed_at && time(row.dismissed_at),
  dismissed_by: row.dismissed_by && address(recovery, row.dismissed_by),
})

export const caseJson = (
  recovery: Recovery.Recovery,
  { ring, members, shops, pairs }: RingCase,
): z.output<typeof RingCaseShown> => ({
  ...ringJson(recovery, ring),
  owners: members.map(({ owner, standing, cast_inside, got_inside, agents }) => ({
    owner: address(recovery, owner),
    standing,
    votes_cast: cast_inside,
    votes_got: got_inside,
    agents,
  })),
  places: shops.map(({ merchant_id, owner, standing, votes, spent }) => ({
    merchant_id: whole(merchant_id),
    owner: owner && address(recovery, owner),
    standing,
    votes,
    spent_usdc: whole(spent),
  })),
  pairs: pairs.map(({ voter, author, votes }) => ({
    voter: address(recovery, voter),
    author: address(recovery, author),
    votes,
  })),
})

export const voteJson = (recovery: Recovery.Recovery, row: RingVoteRow): z.output<typeof RingVote> => ({
  cast_at: time(row.cast_at),
  voter_agent_id: whole(row.voter_agent_id),
  voter: address(recovery, row.voter),
  author_agent_id: whole(row.author_agent_id),
  author: address(recovery, row.author),
  merchant_id: whole(row.merchant_id),
  product_id: hex(row.product_id),
  internal_id: whole(row.internal_id),
  reasoning: row.reasoning,
  weight: row.weight,
})
