import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import { plain } from '../../../format/text.ts'
import { parseUsdc } from '../../../format/usdc.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { categories, type DiscoverSearch } from './questions.ts'

const DEBOUNCE_MS = 200

/** A plain form, which also follows what one types: the address changes with it. */
export function Filters({ search }: { search: DiscoverSearch }) {
  const { api } = rootRoute.useRouteContext()
  const navigate = useNavigate()
  const { data } = useQuery(categories(api))
  const form = useRef<HTMLFormElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const [isBadAmount, setBadAmount] = useState(false)
  useEffect(() => () => clearTimeout(timer.current), [])

  // The server's form can be filled in before this code runs: what was entered then is searched for now.
  const goIfFilled = useEffectEvent(() => {
    const { q, category, most, all } = given()
    const isAsTheAddress =
      q === search.q && category === search.category && most === search.most && all === search.all
    if (!isAsTheAddress) go()
  })
  useEffect(goIfFilled, [])

  // Who goes back, or follows a link to all products, finds the fields as the address says; what one is typing stays.
  useEffect(() => {
    if (!form.current || form.current.contains(document.activeElement)) return
    const fields = form.current.elements
    for (const [name, value] of [
      ['q', search.q],
      ['category', search.category],
      ['most', search.most?.toString()],
    ] as const) {
      ;(fields.namedItem(name) as HTMLInputElement).value = value ?? ''
    }
    ;(fields.namedItem('all') as HTMLInputElement).checked = search.all !== undefined
  }, [search])

  /** What the fields say; an amount that is none counts as no amount. */
  function given(): DiscoverSearch & { isBadAmount: boolean } {
    const fields = new FormData(form.current ?? undefined)
    const text = (name: string) => String(fields.get(name) ?? '').trim() || undefined
    const amount = text('most')
    const isBad = amount !== undefined && parseUsdc(amount) === undefined
    return {
      q: text('q'),
      category: text('category'),
      most: amount === undefined || isBad ? undefined : Number(amount),
      all: text('all') ? 'true' : undefined,
      isBadAmount: isBad,
    }
  }
  function go() {
    clearTimeout(timer.current)
    const { isBadAmount: isBad, ...wanted } = given()
    setBadAmount(isBad)
    navigate({ to: '/discover', search: wanted, replace: true, resetScroll: false })
  }
  function soon() {
    clearTimeout(timer.current)
    timer.current = setTimeout(go, DEBOUNCE_MS)
  }
  function submit(event: FormEvent) {
    event.preventDefault()
    go()
  }
  const known = data?.categories ?? []
  const isUnknown =
    search.category !== undefined && !known.some(({ category }) => category === search.category)
  return (
    <search>
      <form ref={form} className="filters" action="/discover" onSubmit={submit} onInput={soon}>
        <div className="search">
          <label className="hidden-text" htmlFor="q">
            What do you need?
          </label>
          <input
            id="q"
            name="q"
            type="search"
            defaultValue={search.q ?? ''}
            placeholder="What do you need?"
            maxLength={1_000}
            autoComplete="off"
          />
          <button type="submit" className="button button-main">
            Search
          </button>
        </div>
        <div className="filter-row">
          <div className="field">
            <label htmlFor="category">Category</label>
            <select id="category" name="category" defaultValue={search.category ?? ''}>
              <option value="">All</option>
              {isUnknown && <option value={search.category}>{plain(search.category ?? '', 60)}</option>}
              {known.map(({ category, products }) => (
                <option key={category} value={category}>
                  {plain(category, 60)} ({products})
                </option>
              ))}
            </select>
          </div>
          <div className="field">
            <label htmlFor="most">Highest price, USDC</label>
            <input
              id="most"
              name="most"
              inputMode="decimal"
              defaultValue={search.most ?? ''}
              placeholder="any"
              maxLength={20}
              autoComplete="off"
              aria-invalid={isBadAmount || undefined}
              aria-describedby="most-error"
            />
            <span id="most-error" className="field-error" role="status">
              {isBadAmount && 'Write it as 0.05.'}
            </span>
          </div>
          <label className="filter-check">
            <input type="checkbox" name="all" value="true" defaultChecked={search.all !== undefined} />
            Lower-ranked reviews, too
          </label>
        </div>
      </form>
    </search>
  )
}
