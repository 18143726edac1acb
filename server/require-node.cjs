// `npm start` runs this first. A Node that is too old cannot read the program, and would say so in words about file extensions.
const { engines } = require('../package.json')

const [major, minor] = process.versions.node.split('.').map(Number)
if (!((major === 24 && minor >= 11) || major >= 26)) {
  console.error(
    `Sallyport does not start: it needs Node ${engines.node}, and this is ${process.versions.node}. On Linux, \`npm ci\` installs ` +
      'the right one, unless optional packages are left out; elsewhere, install Node 24',
  )
  process.exitCode = 1
}
