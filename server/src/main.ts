import { parseArgs } from 'node:util'
import { driverTypes } from './app.ts'
import { variableTable } from './config/variables.ts'
import { describeVersion, readVersion } from './config/version.ts'
import { start } from './start.ts'

const help = `npm start

Starts Sallyport in the foreground. Environment variables configure it (docs/reference/configuration.md says more):

${Object.entries(variableTable)
  .map(([name, { default: usual }]) => `  ${name.padEnd(30)}${usual.replaceAll('`', '')}`)
  .join('\n')}

  --version   prints the version and the commit`

const options = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } as const
try {
  const { help: wantsHelp, version: wantsVersion } = parseArgs({ options }).values
  if (wantsHelp) console.log(help)
  else if (wantsVersion) console.log(describeVersion(readVersion()))
  else start(driverTypes)
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${help}`)
  process.exitCode = 1
}
