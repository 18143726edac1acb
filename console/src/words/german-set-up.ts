import { aws } from './german/aws.ts'
import { directories } from './german/directories.ts'
import { logins } from './german/logins.ts'
import { people } from './german/people.ts'
import { resources } from './german/resources.ts'
import { rules } from './german/rules.ts'
import { start } from './german/start.ts'
import type { OwnSetUpWords } from './set-up-words.ts'

export const germanSetUp: OwnSetUpWords = { aws, directories, logins, people, resources, rules, start }
