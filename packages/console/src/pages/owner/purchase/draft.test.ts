import { expect, it } from 'vitest'
import { readDraft, removeDraft, saveDraft } from './draft.ts'

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

it('keeps the exact text and the transaction of a review until it is removed', () => {
  const store = storeOf()
  expect(readDraft(purchase, store)).toBeUndefined()
  saveDraft(purchase, draft, store)
  expect(readDraft(purchase, store)).toEqual(draft)
  removeDraft(purchase, store)
  expect(readDraft(purchase, store)).toBeUndefined()
})

it('does not take the text of another purchase with the same number', () => {
  const store = storeOf()
  saveDraft(purchase, draft, store)
  expect(readDraft({ ...purchase, transaction: '0xcc' }, store)).toBeUndefined()
})

it('begins anew when what is stored cannot be read', () => {
  const store = storeOf()
  for (const text of ['{', '7', '{"content":7}']) {
    store.setItem('review of 0xaa 7', text)
    expect(readDraft(purchase, store), text).toBeUndefined()
  }
})
