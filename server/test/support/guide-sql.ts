import { readFileSync } from 'node:fs'

const guide = new URL('../../../docs/guides/provisioner-postgresql.md', import.meta.url)

/**
 * The guide's SQL for this version of PostgreSQL, in order, as one text. `managed`: only the part about logins that are closed
 * between grants; without: the rest.
 */
export function guideSql(major: number, managed = false): string {
  const blocks = [...readFileSync(guide, 'utf8').matchAll(/^```sql(.*)\n([\s\S]*?)^```$/gm)]
  const version = major >= 16 ? '16' : '15'
  return blocks
    .filter(([, words = '']) => {
      const options = words.trim().split(' ').filter(Boolean)
      const versions = options.filter((word) => word !== 'managed')
      return options.includes('managed') === managed && (versions.length === 0 || versions.includes(version))
    })
    .map(([, , text]) => text)
    .join('\n')
}
