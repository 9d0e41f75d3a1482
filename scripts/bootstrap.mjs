// Makes node_modules what package-lock.json says, installed for the Node that runs the product. Called before
// start, test and bench; when nothing has changed it only compares a stamp.
const major = Number(process.versions.node.split('.')[0])
if (major < 20) {
  console.error(
    `Node ${process.versions.node} is too old: install Node 20 or newer from https://nodejs.org and run this again.`,
  )
  process.exit(1)
}

const { isInstalled } = await import('./stamp.mjs')
if (!isInstalled()) {
  const { install } = await import('./install.mjs')
  process.exitCode = await install()
}
