import { useNavigate } from '@tanstack/react-router'
import type { FormEvent } from 'react'

/** To the results: a plain form, so that it works without JavaScript, too. */
export function SearchForm() {
  const navigate = useNavigate()
  function go(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const q = String(new FormData(event.currentTarget).get('q') ?? '').trim()
    navigate({ to: '/discover', search: q ? { q } : {} })
  }
  return (
    <search>
      <form className="search" action="/discover" onSubmit={go}>
        <label className="hidden-text" htmlFor="search">
          What do you need?
        </label>
        <input
          id="search"
          name="q"
          type="search"
          placeholder="What do you need?"
          maxLength={1_000}
          autoComplete="off"
        />
        <button type="submit" className="button button-main">
          Search
        </button>
      </form>
    </search>
  )
}
