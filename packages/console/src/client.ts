// The beginning in the browser: what the server rendered is painted before the code of the page runs.
import './styles/index.css'

const start = () => import('./hydrate.tsx')

// A page that nobody sees is not painted.
if (document.hidden) start()
else requestAnimationFrame(() => setTimeout(start))
