/** What a release is checked against before it is made. */
export type Candidate = {
  version: string
  changelog: string
  /** Tracked files that differ from the commit, as `git status --porcelain` lists them. */
  changed: string
  /** The names of the files in `server/test/releases/VERSION/`. */
  kept: readonly string[]
}

/** What every later version is tried on. */
const neededData = ['data-folder.zst', 'holds.json', 'sallyport.backup']

/** Why this is not to be released, in a sentence that says what to do; undefined if it may be. */
export function findReleaseFault({ version, changelog, changed, kept }: Candidate): string | undefined {
  const files = changed.split('\n').filter((line) => line !== '')
  if (files.length > 0) {
    return `the tree is not that of its commit; commit or undo what has changed:\n${files.join('\n')}`
  }
  if (!/^\d+\.\d+\.\d+$/.test(version)) return `the version in package.json is \`${version}\`; write it as 1.2.3`
  const titles = changelog.split('\n').filter((line) => line.startsWith('## '))
  const place = titles.findIndex((title) => title.split(' ')[1] === version)
  const title = titles[place]
  if (title === undefined) {
    return `CHANGELOG.md has no section of ${version}; give what stands under Unreleased the title \`## ${version} - YYYY-MM-DD\``
  }
  const date = title.slice(`## ${version} - `.length)
  if (title !== `## ${version} - ${date}` || !isDate(date)) {
    return `CHANGELOG.md says \`${title}\`; give the section its date: \`## ${version} - YYYY-MM-DD\``
  }
  if (titles.slice(0, place).some((each) => each !== '## Unreleased')) {
    return `CHANGELOG.md has a newer section than that of ${version}; raise the version in package.json`
  }
  const missing = neededData.filter((name) => !kept.includes(name))
  if (missing.length > 0) {
    return `server/test/releases/${version} lacks ${missing.join(', ')}; \`node server/test/releases/make.ts\` makes what later versions are tried on`
  }
  return undefined
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const date = new Date(text)
  // A day that a month does not have is moved to the next month, or is no date.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}
