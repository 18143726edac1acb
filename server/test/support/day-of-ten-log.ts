/** The audit log of the day of ten, from the first request on. */
export const livedByTen = `
Ada: request.created Ada’s Change
Kim: request.commented Ada’s Change
Ada: request.commented Ada’s Change
Kim: request.approved Ada’s Change
the system: grant.activated Ada’s granted Change
Ben: request.created Ben’s Look
the system: request.approved Ben’s Look
the system: grant.activated Ben’s granted Look
the system: grant.expired Ben’s granted Look
Cleo: request.created Cleo’s Change
Dora: request.created Dora’s Change
Emil: request.created Emil’s Change
Fay: request.created Fay’s Change
Mia: request.denied Cleo’s Change
Dora: request.cancelled Dora’s Change
Lou: request.denied Fay’s Change
Lou: request.approved Emil’s Change
the system: grant.activated Emil’s granted Change
Emil: grant.revoked Emil’s granted Change
Gus: user.updated Gus
Gus: request.created Gus’s Look
the system: request.approved Gus’s Look
the system: grant.activated Gus’s granted Look
the system: grant.expired Gus’s granted Look
the system: grant.expiring Ada’s granted Change
Ada: request.created Ada’s extension
Lou: request.approved Ada’s extension
the system: grant.activated Ada’s granted extension
the system: grant.expired Ada’s granted Change
Ada: grant.revoked Ada’s granted extension`
