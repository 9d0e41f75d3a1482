import { expect, it } from 'vitest'
import { forgetDraft, openDraft, readDrafts, removeDrafts, saveDraft } from './draft.ts'

function storeOf(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const kept = new Map<string, string>()
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  }
}

const purchase = { transaction: '0xaa', escrow_id: 7 }
const draft = { content: '{"rating":4}', transaction: '0xbb' as const }
const other = { content: '{"rating":5}', transaction: null }

it('keeps the exact text and the transaction of a review until it is removed', () => {
  const store = storeOf()
  expect(readDrafts(purchase, store)).toEqual([])
  saveDraft(purchase, { ...draft, transaction: null }, store)
  saveDraft(purchase, draft, store)
  expect(readDrafts(purchase, store)).toEqual([draft])
  removeDrafts(purchase, store)
  expect(readDrafts(purchase, store)).toEqual([])
})

it('keeps the text of another tab beside its own, and forgets only what was not sent', () => {
  const store = storeOf()
  saveDraft(purchase, draft, store)
  saveDraft(purchase, other, store)
  expect(readDrafts(purchase, store)).toEqual([draft, other])
  forgetDraft(purchase, other.content, store)
  expect(readDrafts(purchase, store)).toEqual([draft])
})

it('goes on with a transaction that may still be mined before a newer text', () => {
  expect(openDraft([draft, other])).toEqual(draft)
  expect(openDraft([{ ...draft, transaction: null }, other])).toEqual(other)
  expect(openDraft([])).toBeUndefined()
})

it('does not take the text of another purchase with the same number', () => {
  const store = storeOf()
  saveDraft(purchase, draft, store)
  expect(readDrafts({ ...purchase, transaction: '0xcc' }, store)).toEqual([])
})

it('begins anew when what is stored cannot be read', () => {
  const store = storeOf()
  for (const text of ['{', '7', '{"content":7}', '[{"content":7}, null]']) {
    store.setItem('reviews of 0xaa 7', text)
    expect(readDrafts(purchase, store), text).toEqual([])
  }
})
