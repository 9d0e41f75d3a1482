import { useEffect, useState } from 'react'

const YEAR_SECONDS = 31_536_000
const isDarkNow = () =>
  (document.documentElement.dataset.theme ??
    (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'

/** Light or dark. The choice is a cookie, so that the server's page has it from its first byte. */
export function ThemeSwitch() {
  const [isDark, setDark] = useState<boolean>()
  useEffect(() => setDark(isDarkNow()), [])
  function turn() {
    const theme = isDarkNow() ? 'light' : 'dark'
    document.documentElement.dataset.theme = theme
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser
    document.cookie = `theme=${theme}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`
    setDark(theme === 'dark')
  }
  return (
    <button
      type="button"
      className="theme-switch"
      onClick={turn}
      aria-label={isDark ? 'Use the light theme' : 'Use the dark theme'}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="5.5" />
        <path d="M8 2.5v11A5.5 5.5 0 0 0 8 2.5" />
      </svg>
    </button>
  )
}
