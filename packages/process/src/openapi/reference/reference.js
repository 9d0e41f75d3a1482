// The page may be reached by another address than the one in the document: calls go to where the page came from.
const base = new URL('..', document.currentScript.src).href.replace(/\/$/, '')

fetch(`${base}/openapi.json`)
  .then((response) => response.json())
  .then((description) =>
    window.SwaggerUIBundle({
      spec: { ...description, servers: [{ url: base }] },
      dom_id: '#reference',
      deepLinking: true,
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      validatorUrl: null,
    }),
  )
