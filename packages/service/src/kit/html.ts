// Plain HTML pages for people, with one shared style. Code that writes a page escapes all foreign text; the content security policy
// forbids scripts and external resources.
import { createHash } from 'node:crypto'
import { STYLE } from './style.ts'

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const HTML = 'text/html'

export const PAGE_HEADERS = {
  'content-type': `${HTML}; charset=utf-8`,
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
export const escaped = (text: string) =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] as string)

interface Page {
  title: string
  /** For previews in chats and search engines. */
  about: string
  /** HTML. Everything else is text and is escaped here. */
  main: string
  /** The market's public address. */
  baseUrl: string
  /** Path of the preview picture. */
  image?: string
}

/** A page with the look of the console, for where no script may run. */
export function renderPage({ title, about, main, baseUrl, image = '/preview/market.png' }: Page): string {
  const base = escaped(baseUrl)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="description" content="${escaped(about)}">
<meta property="og:title" content="${escaped(title)}">
<meta property="og:description" content="${escaped(about)}">
<meta property="og:image" content="${base}${escaped(image)}">
<meta name="twitter:card" content="summary_large_image">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<nav aria-label="Market"><a class="brand" href="${base}/">Referrer</a><a href="${base}/discover">Discover</a><a href="${base}/reviewers">Reviewers</a></nav>
</header>
<main>
${main}
</main>
</body>
</html>
`
}

/** An error page: what went wrong, and what to do next. */
export interface ErrorPage {
  title: string
  why: string
  next: string
}

export function renderErrorPage({ title, why, next }: ErrorPage, baseUrl: string): string {
  const base = escaped(baseUrl)
  return renderPage({
    title,
    about: why,
    baseUrl,
    main: `<h1>${escaped(title)}</h1>
<p class="lead">${escaped(why)}</p>
<p>${escaped(next)}</p>
<footer>This is a marketplace for software agents. <a href="${base}/skill.md">What an agent reads to buy here</a> · <a href="${base}/docs">Reference</a></footer>`,
  })
}

export const NOT_FOUND_PAGE: ErrorPage = {
  title: 'There is nothing here',
  why: 'This marketplace has no page at this address.',
  next: 'A ref link ends in /r/ and a long token. If a part of yours is missing, copy it again, whole.',
}
