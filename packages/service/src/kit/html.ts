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

/** `main` is HTML; `title` and `about` are text and are escaped here. */
export function renderPage({ title, about, main }: { title: string; about: string; main: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="description" content="${escaped(about)}">
<meta property="og:title" content="${escaped(title)}">
<meta property="og:description" content="${escaped(about)}">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
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
