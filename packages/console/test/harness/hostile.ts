// What strangers write into every field that they fill, to break a page or to run something in it.
import { inDatabase } from '../../../../sandbox/test/sandbox.ts'
import type { RunningSandbox } from './market.ts'
import type { Account } from './places.ts'

/** Stands in every hostile text, so that a test can wait for it. */
export const MARK = 'HOSTILE'

const SCRIPTS = [
  '"><script>window.pwned=1;alert(1)</script>',
  '<img src="https://evil.example/x.png" onerror="window.pwned=2;alert(2)">',
  '<svg/onload="window.pwned=3"><iframe srcdoc="<script>parent.pwned=4</script>"></iframe>',
  '</script></title></textarea><!--<style>*{display:none}</style>',
  '{{constructor.constructor("alert(5)")()}}',
  '[click](javascript:alert(6)) ![broken](https://evil.example/broken.png)',
].join(' ')
const BACKWARDS = '\u202Egnp.txt.exe\u202C \u2066\u202B مرحبا بالعالم שלום \u200F\u2069'
const WORD = 'W'.repeat(16 * 1_024)
const EMOJI = '👩‍👩‍👧‍👦🏴‍☠️🇺🇳'.repeat(60)
const STACKED = `e${'\u0301\u0323'.repeat(40)}`
const INVISIBLE = '\u200B\u200D\uFEFF\u00AD\u2060'.repeat(50)

/** With everything in it, the longest word last: what is cut off still has the rest. */
export const TEXT = [MARK, SCRIPTS, BACKWARDS, EMOJI, STACKED, INVISIBLE, WORD].join('\n')
const SHORT = `${MARK} ${SCRIPTS.slice(0, 60)} ${BACKWARDS}`
const HUGE = '9'.repeat(400)
const MOST_UNITS = String(Number.MAX_SAFE_INTEGER)

const nested = (depth: number): unknown => (depth === 0 ? SCRIPTS : { [`${depth} <b>`]: nested(depth - 1) })

const CONTENT = JSON.stringify({
  rating: 5,
  description: TEXT,
  [SCRIPTS]: 'a value whose key is hostile',
  [WORD.slice(0, 2_000)]: 1,
  constructor: 'x',
  toString: null,
  '': BACKWARDS,
  latency_ms: 1e308,
  tiny: -1e-308,
  digits: HUGE,
  image: 'https://evil.example/broken.png',
  link: 'javascript:alert(7)',
  yes: true,
  many: Array.from({ length: 400 }, (_, at) => ({ at, text: SCRIPTS })),
  deep: nested(200),
  html: '<marquee><h1>BUY NOW</h1></marquee>',
})
// A key that an object literal would not keep.
const WITH_PROTOTYPE = CONTENT.replace('{', '{"__proto__":{"polluted":true},')

/** Writes past the service what it would refuse. Only what `owner` and the demo merchant's pages show, and everything that is listed. */
export async function fillWithHostility(
  sandbox: RunningSandbox,
  { owner, merchant }: { owner: Account; merchant: Account },
): Promise<void> {
  const owned = Buffer.from(owner.address.slice(2), 'hex')
  await inDatabase(sandbox, async (sql) => {
    await sql`UPDATE market.products SET name = ${TEXT}, description = ${TEXT}, category = ${SHORT},
      endpoint_url = ${`javascript:alert(8)//${WORD}`} WHERE merchant_id = ${merchant.merchantId ?? -1}`
    await sql`UPDATE market.merchants SET description = ${TEXT}, landing_page_url = ${`javascript:alert(9)//${SHORT}`},
      metadata_uri = ${`data:text/html,${SHORT}`}`
    await sql`UPDATE market.reviews SET content = ${WITH_PROTOTYPE}, satisfaction_score = 1e300
      WHERE merchant_id = ${merchant.merchantId ?? -1} OR agent_id = ${owner.agentId ?? -1}`
    await sql`UPDATE market.votes SET reasoning = ${TEXT}`
    await sql`UPDATE market.agents SET uri = ${TEXT}`
    await sql`UPDATE market.proofs SET proof_data = ${WITH_PROTOTYPE}, note = ${TEXT}`
    await sql`UPDATE market.disputes SET reason = ${TEXT}`
    await sql`UPDATE market.escrow_decisions SET inputs = ${sql.json({ [SCRIPTS]: TEXT, deep: nested(50) } as never)}`
    // What mirrors the chain is guarded by triggers.
    await sql.begin(async (tx) => {
      await tx`SET LOCAL session_replication_role = replica`
      await tx`UPDATE chain.escrows SET price = ${MOST_UNITS}, commission = ${MOST_UNITS}
        WHERE merchant_id = ${merchant.merchantId ?? -1} OR buyer_agent_id = ${owner.agentId ?? -1}`
      await tx`UPDATE chain.identities SET uri = ${TEXT}`
      await tx`UPDATE chain.products SET card_uri = ${TEXT}`
    })
    await sql`UPDATE market.sessions SET user_agent = ${SHORT}`
    await sql`INSERT INTO market.checklists (category, items, authored_by) VALUES (${SHORT}, ${[TEXT, SCRIPTS]}, ${owned})
      ON CONFLICT DO NOTHING`
    await sql`
      INSERT INTO market.intents (intent_id, chain_id, agent_id, owner, type, payload, status, result, reason, created_at, expires_at,
        closed_at)
      SELECT 'hostile-' || status, ${sandbox.state.chainId}, ${owner.agentId ?? -1}, ${owned}, 'buy_product', ${WITH_PROTOTYPE}, status,
        ${WITH_PROTOTYPE}, ${TEXT}, now(), now() + interval '1 day', CASE WHEN status <> 'pending' THEN now() END
      FROM unnest(ARRAY['pending', 'executed', 'skipped', 'withdrawn']) AS status
      ON CONFLICT DO NOTHING`
  })
}
