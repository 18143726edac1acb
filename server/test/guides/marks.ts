/**
 * Why a block of this mark is not typed. A mark is a word behind the language of a block, which readers do not see: ```sh docker.
 * A block without one is typed as it stands.
 */
export const notTyped: Readonly<Record<string, string>> = {
  service: 'runs until it is stopped: the test starts the service itself',
  checks: 'what this run is a part of',
  docker: 'needs Docker; test/packaging checks the files',
  systemd: 'changes the system as root; test/packaging checks the unit',
  archive: 'needs a release; test/packaging makes and installs one',
  registry: 'needs package registries; `npm run test:clients` types it',
  server: 'changes the roles of a whole PostgreSQL server; commands/db-setup.test.ts does so with one of its own',
  phone: 'needs a code from an app; test/second-factor has one',
  connect: 'what a person types who was given access; provisioners/postgresql/connect.test.ts does',
  target: 'acts on a cloud or a server of others, as its administrator',
  entra: 'needs a directory at Microsoft',
  provider: 'needs an OpenID Connect provider; test/oidc has one',
}

/** A block of these is typed when all other guides were: nothing brings back what was before. */
export const typedLast = 'last'

/** Goes on until it is interrupted: the test interrupts it once it has printed something. */
export const endless = 'endless'

/** What is replaced before a block is typed, since a test cannot use what readers have there. */
export type Substitutions = readonly (readonly [from: string, to: string])[]
