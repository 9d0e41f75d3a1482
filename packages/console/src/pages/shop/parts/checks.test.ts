import { describe, expect, it } from 'vitest'
import { checklist } from './checks.ts'

describe('the checks of an endpoint', () => {
  it('that were not reached are unknown', () => {
    expect(checklist([{ name: 'reachable', ok: false, detail: 'no answer' }])).toEqual([
      { name: 'reachable', ok: false, detail: 'no answer' },
      { name: 'returns_402', ok: undefined, detail: undefined },
      { name: 'payto_is_splitrouter', ok: undefined, detail: undefined },
      { name: 'echoes_attribution', ok: undefined, detail: undefined },
    ])
  })

  it('count as reached once anything else was looked at', () => {
    const found = checklist([
      { name: 'returns_402', ok: true, detail: 'status 402' },
      { name: 'payto_is_splitrouter', ok: false, detail: '0x1' },
      { name: 'echoes_attribution', ok: true },
    ])
    expect(found.map(({ ok }) => ok)).toEqual([true, true, false, true])
  })
})
