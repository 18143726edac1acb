// Generated from server/openapi.json by `npm run generate`.
export interface paths {
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process runs */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether it can serve */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/discovery": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Find the tenant of a slug or a mail domain, and how to sign in to it */
        get: operations["discoverTenant"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign in with e-mail and password */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/second-factor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Finish a sign-in with a second factor */
        post: operations["finishSecondFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Begin a sign-in through the tenant’s identity provider */
        get: operations["beginAuthorization"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchange an authorization code for a token */
        post: operations["exchangeAuthorizationCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stay signed in in this browser */
        post: operations["startSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/refresh-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get a refresh token, with which a program stays signed in */
        post: operations["issueRefreshToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchange a refresh token for a token and the next refresh token */
        post: operations["refreshSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/setup-link/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** See whether a setup link still works */
        post: operations["checkSetupLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/setup-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Become the first owner by a setup link */
        post: operations["useSetupLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/invitation/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** See whether the link of an invitation still works */
        post: operations["checkInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/invitation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Join by the link of an invitation */
        post: operations["useInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign out */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/back-channel-logout/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End the sessions of a user who signed out at their identity provider */
        post: operations["receiveLogoutToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the public keys of tokens */
        get: operations["getJwks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List requests, newest first: your own, or all users’ with requests:read */
        get: operations["listRequests"];
        put?: never;
        /**
         * Request access; policy answers at once: refused, pending, or approved; 100 requests of a user may be pending
         * @description Needs the scope `requests:create`.
         */
        post: operations["createRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview the answer to a request; stores nothing and notifies no user
         * @description Needs the scope `requests:create`.
         */
        post: operations["previewRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/catalogue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what you may request now: cached accounts by rank, then what else is known; a page may be short
         * @description Needs the scope `requests:create`.
         */
        get: operations["listCatalogue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/favourites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your favourites, and whether you may request them now */
        get: operations["listFavourites"];
        put?: never;
        /** Add a favourite; you may have 100 */
        post: operations["addFavourite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/favourites/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove one of your favourites */
        delete: operations["removeFavourite"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count requests, up to 100: your own, or all users’ with requests:read */
        get: operations["countRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a request, and whether you may decide it: your own, or any user’s with requests:read */
        get: operations["getRequest"];
        put?: never;
        post?: never;
        /** Cancel a pending request: your own, or any user’s with requests:cancel */
        delete: operations["cancelRequest"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the policy questions about a request and their decisions, oldest first */
        get: operations["getRequestDecision"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}/comments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the comments on a request, oldest first: on your own, or on any request with requests:read */
        get: operations["listRequestComments"];
        put?: never;
        /** Comment on a pending request: your own, or one that you may decide now; at most 100 comments */
        post: operations["createRequestComment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}/deciders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List who may decide a pending request, by name: of your own, or of any request with requests:read */
        get: operations["listDeciders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve a pending request, for the requested time or less; never your own
         * @description Needs the scope `requests:approve`.
         */
        post: operations["approveRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}/deny": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deny a pending request; every user who may approve it may deny it
         * @description Needs the scope `requests:approve`.
         */
        post: operations["denyRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve or deny up to 50 pending requests; each is decided by itself and has its own result
         * @description Needs the scope `requests:approve`.
         */
        post: operations["decideRequests"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}/remind": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remind those who may decide your pending request, once in 10 minutes */
        post: operations["remindDeciders"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/access/requests/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The status of a request, with its grants: your own, or any user’s with requests:read */
        get: operations["getAccessRequestStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List grants, newest first: your own, or all grants with grants:read */
        get: operations["listGrants"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/grants/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count grants, up to 100: your own, or all grants with grants:read */
        get: operations["countGrants"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/grants/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a grant, its state at its target, and whether it can be extended: your own, or any grant with grants:read */
        get: operations["getGrant"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/grants/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End access early, with its extension: your own, or any user’s with grants:revoke */
        post: operations["revokeGrant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/grants/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Retry a failed grant within an hour of its approval: your own, or any grant with grants:revoke */
        post: operations["retryGrant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/grants/{id}/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get a new password for the login of your grant, which ends the one before; each call makes another one, also with the same `Idempotency-Key` */
        post: operations["createGrantCredentials"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/grants/{id}/extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Request that your active access lasts longer, once half of its time is used
         * @description Needs the scope `requests:create`.
         */
        post: operations["extendGrant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List policies with their rules
         * @description Needs the scope `policies:read`.
         */
        get: operations["listPolicies"];
        put?: never;
        /**
         * Create a policy
         * @description Needs the scope `policies:write`.
         */
        post: operations["createPolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies/reorder": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Reorder policies by priority
         * @description Needs the scope `policies:write`.
         */
        patch: operations["reorderPolicies"];
        trace?: never;
    };
    "/v1/policies/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the Cedar schema of the policy questions; plain text for `Accept: text/plain`
         * @description Needs the scope `policies:read`.
         */
        get: operations["getPolicySchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies/invariants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check the invariants of a rule set, with a counterexample where one does not hold
         * @description Needs the scope `policies:read`.
         */
        post: operations["checkInvariants"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies/cases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the policy cases: policy questions with their expected answers
         * @description Needs the scope `policies:read`.
         */
        get: operations["listPolicyCases"];
        /**
         * Replace the policy cases, and get the outcome of each
         * @description Needs the scope `policies:write`.
         */
        put: operations["replacePolicyCases"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Evaluate policy cases on the rules, or on a draft of them; stores nothing
         * @description Needs the scope `policies:read`.
         */
        post: operations["testPolicies"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies/gains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find who gains and who loses by a draft of the rules; needs users:read, groups:read and cloud_accounts:read too
         * @description Needs the scope `policies:read`.
         */
        post: operations["findGains"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a policy with its rules
         * @description Needs the scope `policies:read`.
         */
        get: operations["getPolicy"];
        put?: never;
        post?: never;
        /**
         * Delete a policy with its rules
         * @description Needs the scope `policies:write`.
         */
        delete: operations["deletePolicy"];
        options?: never;
        head?: never;
        /**
         * Update a policy
         * @description Needs the scope `policies:write`.
         */
        patch: operations["updatePolicy"];
        trace?: never;
    };
    "/v1/policies/{id}/cedar": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the rules of a policy as a `.cedar` file; the file itself for `Accept: text/plain`
         * @description Needs the scope `policies:read`.
         */
        get: operations["exportPolicy"];
        /**
         * Replace the rules of a policy by those of a `.cedar` file, sent as JSON or as `text/plain`
         * @description Needs the scope `policies:write`. Also takes `cedar` alone, as a body of the type `text/plain`.
         */
        put: operations["importPolicy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies/{id}/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a rule in a policy
         * @description Needs the scope `policies:write`.
         */
        post: operations["createRule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies/{id}/rules/reorder": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Reorder the rules of a policy by ordinal
         * @description Needs the scope `policies:write`.
         */
        patch: operations["reorderRules"];
        trace?: never;
    };
    "/v1/policies/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Evaluate a draft of the policies on the questions of the last days
         * @description Needs the scope `policies:read`.
         */
        post: operations["replayPolicies"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies/replay/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a replay: its progress and its result
         * @description Needs the scope `policies:read`.
         */
        get: operations["getPolicyReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policies/{id}/rules/{rule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a rule of a policy
         * @description Needs the scope `policies:read`.
         */
        get: operations["getRule"];
        put?: never;
        post?: never;
        /**
         * Delete a rule of a policy
         * @description Needs the scope `policies:write`.
         */
        delete: operations["deleteRule"];
        options?: never;
        head?: never;
        /**
         * Update a rule of a policy
         * @description Needs the scope `policies:write`.
         */
        patch: operations["updateRule"];
        trace?: never;
    };
    "/v1/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the actions that have a description, by action
         * @description Needs the scope `policies:read`.
         */
        get: operations["listActions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/actions/{action}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the description of an action
         * @description Needs the scope `policies:read`.
         */
        get: operations["getAction"];
        /**
         * Describe an action
         * @description Needs the scope `policies:write`.
         */
        put: operations["describeAction"];
        post?: never;
        /**
         * Remove the description of an action; rules and requests that name the action stay
         * @description Needs the scope `policies:write`.
         */
        delete: operations["removeActionDescription"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List all permission scopes grouped by resource */
        get: operations["listPermissions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List roles, system roles first
         * @description Needs the scope `roles:read`.
         */
        get: operations["listRoles"];
        put?: never;
        /**
         * Create a role
         * @description Needs the scope `roles:write`.
         */
        post: operations["createRole"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/roles/{role_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a role
         * @description Needs the scope `roles:read`.
         */
        get: operations["getRole"];
        put?: never;
        post?: never;
        /**
         * Delete an unused custom role
         * @description Needs the scope `roles:write`.
         */
        delete: operations["deleteRole"];
        options?: never;
        head?: never;
        /**
         * Update a custom role
         * @description Needs the scope `roles:write`.
         */
        patch: operations["updateRole"];
        trace?: never;
    };
    "/v1/roles/{role_id}/holders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who holds a role, themselves or by a group; needs users:read too
         * @description Needs the scope `roles:read`.
         */
        get: operations["listRoleHolders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List users in the order of creation
         * @description Needs the scope `users:read`.
         */
        get: operations["listUsers"];
        put?: never;
        /**
         * Create a new user
         * @description Needs the scope `users:write`.
         */
        post: operations["createUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a user
         * @description Needs the scope `users:read`.
         */
        get: operations["getUser"];
        put?: never;
        post?: never;
        /**
         * Delete a user
         * @description Needs the scope `users:write`.
         */
        delete: operations["deleteUser"];
        options?: never;
        head?: never;
        /**
         * Update, deactivate or reactivate a user
         * @description Needs the scope `users:write`.
         */
        patch: operations["updateUser"];
        trace?: never;
    };
    "/v1/users/{id}/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the groups of a user
         * @description Needs the scope `users:read`.
         */
        get: operations["listUserGroups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{id}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Suspend a user for 24 hours
         * @description Needs the scope `users:write`.
         */
        post: operations["suspendUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{id}/unsuspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the suspension of a user
         * @description Needs the scope `users:write`.
         */
        post: operations["unsuspendUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{id}/end-access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End all access of a user: your own, or any user’s with grants:revoke and requests:cancel */
        post: operations["endUserAccess"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{id}/second-factors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove the second factors of a user who has lost them
         * @description Needs the scope `users:write`.
         */
        delete: operations["resetSecondFactors"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get yourself, with your tenant and your rights */
        get: operations["getOwnUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get your own profile */
        get: operations["getOwnProfile"];
        /** Update your own profile */
        put: operations["updateOwnProfile"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get your own preferences */
        get: operations["getOwnPreferences"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Update your own preferences */
        patch: operations["updateOwnPreferences"];
        trace?: never;
    };
    "/v1/users/me/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change your own password */
        post: operations["changeOwnPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your own sessions */
        get: operations["listOwnSessions"];
        put?: never;
        post?: never;
        /** End all your other sessions */
        delete: operations["endOwnOtherSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/second-factors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your own second factors */
        get: operations["listSecondFactors"];
        put?: never;
        /** Begin to set up a second factor */
        post: operations["beginSecondFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/second-factors/{id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Confirm a second factor */
        post: operations["confirmSecondFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/second-factors/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove one of your second factors */
        delete: operations["deleteSecondFactor"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/recovery-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replace your recovery codes */
        post: operations["replaceRecoveryCodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End one of your own sessions */
        delete: operations["endOwnSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a user and invite the person by a link
         * @description Needs the scope `users:write`.
         */
        post: operations["createInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{id}/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the invitations of a user, newest first, without their links
         * @description Needs the scope `users:read`.
         */
        get: operations["listUserInvitations"];
        put?: never;
        /**
         * Invite a user who has not joined yet, by a new link
         * @description Needs the scope `users:write`.
         */
        post: operations["inviteUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{id}/invitations/{invitation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an invitation that was not used yet
         * @description Needs the scope `users:write`.
         */
        delete: operations["revokeInvitation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{id}/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a user's own roles
         * @description Needs the scope `users:write`.
         */
        put: operations["setUserRoles"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List groups
         * @description Needs the scope `groups:read`.
         */
        get: operations["listGroups"];
        put?: never;
        /**
         * Create a group
         * @description Needs the scope `groups:write`.
         */
        post: operations["createGroup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a group
         * @description Needs the scope `groups:read`.
         */
        get: operations["getGroup"];
        put?: never;
        post?: never;
        /**
         * Delete a group; its members lose what it gave
         * @description Needs the scope `groups:write`.
         */
        delete: operations["deleteGroup"];
        options?: never;
        head?: never;
        /**
         * Update the name or the description of a group, or whether its members are notified
         * @description Needs the scope `groups:write`.
         */
        patch: operations["updateGroup"];
        trace?: never;
    };
    "/v1/groups/{id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the members of a group
         * @description Needs the scope `groups:read`.
         */
        get: operations["listGroupMembers"];
        put?: never;
        /**
         * Add a member to a group
         * @description Needs the scope `groups:write`.
         */
        post: operations["addGroupMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{id}/members/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a member from a group
         * @description Needs the scope `groups:write`.
         */
        delete: operations["removeGroupMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{id}/role-mappings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set the roles that a group gives its members
         * @description Needs the scope `groups:write`.
         */
        put: operations["setGroupRoleMappings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys
         * @description Needs the scope `api_keys:read`.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create API key
         * @description Needs the scope `api_keys:write`.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke API key (soft delete)
         * @description Needs the scope `api_keys:write`.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settings/{setting_key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a setting with its value or default
         * @description Needs the scope `settings:read`.
         */
        get: operations["getSetting"];
        /**
         * Set a setting
         * @description Needs the scope `settings:write`.
         */
        put: operations["upsertSetting"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the settings with their values or defaults
         * @description Needs the scope `settings:read`.
         */
        get: operations["listSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settings/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the sign-in provider of the tenant
         * @description Needs the scope `settings:read`.
         */
        get: operations["getSignInSettings"];
        /**
         * Set the sign-in provider of the tenant
         * @description Needs the scope `settings:write`.
         */
        put: operations["updateSignInSettings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settings/ai-provider-default": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the default AI provider
         * @description Needs the scope `settings:read`.
         */
        get: operations["getAiProviderDefault"];
        /**
         * Set the default AI provider
         * @description Needs the scope `settings:write`.
         */
        put: operations["setAiProviderDefault"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settings/ai-providers/{type}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an AI provider type with its config
         * @description Needs the scope `settings:read`.
         */
        get: operations["getAiProvider"];
        /**
         * Set the config of an AI provider type
         * @description Needs the scope `settings:write`.
         */
        put: operations["setAiProviderConfig"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settings/ai-providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the AI providers with their configs
         * @description Needs the scope `settings:read`.
         */
        get: operations["listAiProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cloud/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List cached cloud accounts by rank and name
         * @description Needs the scope `cloud_accounts:read`.
         */
        get: operations["listCloudAccounts"];
        /**
         * Insert or update cached cloud accounts
         * @description Needs the scope `cloud_accounts:write`.
         */
        put: operations["upsertCloudAccounts"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notification-channels/email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create email notification channel
         * @description Needs the scope `notification_channels:write`.
         */
        post: operations["createEmailChannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notification-channels/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create webhook notification channel
         * @description Needs the scope `notification_channels:write`.
         */
        post: operations["createWebhookChannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notification-channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List notification channels
         * @description Needs the scope `notification_channels:read`.
         */
        get: operations["listNotificationChannels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notification-channels/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get notification channel
         * @description Needs the scope `notification_channels:read`.
         */
        get: operations["getNotificationChannel"];
        put?: never;
        post?: never;
        /**
         * Delete a notification channel
         * @description Needs the scope `notification_channels:write`.
         */
        delete: operations["deleteNotificationChannel"];
        options?: never;
        head?: never;
        /**
         * Update a notification channel
         * @description Needs the scope `notification_channels:write`.
         */
        patch: operations["updateNotificationChannel"];
        trace?: never;
    };
    "/v1/notification-channels/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test message through a notification channel
         * @description Needs the scope `notification_channels:write`.
         */
        post: operations["testNotificationChannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notification-channels/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a notification channel, newest events first
         * @description Needs the scope `notification_channels:read`.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notification-channels/{id}/deliveries/{delivery_id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description Needs the scope `notification_channels:write`.
         */
        post: operations["resendDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notification-channels/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the signing secret of a webhook channel
         * @description Needs the scope `notification_channels:write`.
         */
        post: operations["rotateChannelSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/identity-providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List identity providers
         * @description Needs the scope `identity_providers:read`.
         */
        get: operations["listIdentityProviders"];
        put?: never;
        /**
         * Create identity provider
         * @description Needs the scope `identity_providers:write`.
         */
        post: operations["createIdentityProvider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/identity-providers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get identity provider
         * @description Needs the scope `identity_providers:read`.
         */
        get: operations["getIdentityProvider"];
        put?: never;
        post?: never;
        /**
         * Delete an identity provider and revoke its SCIM keys
         * @description Needs the scope `identity_providers:write`.
         */
        delete: operations["deleteIdentityProvider"];
        options?: never;
        head?: never;
        /**
         * Update an identity provider
         * @description Needs the scope `identity_providers:write`.
         */
        patch: operations["updateIdentityProvider"];
        trace?: never;
    };
    "/v1/identity-providers/{id}/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a sync run, or confirm the removals of a stopped one
         * @description Needs the scope `identity_providers:sync`.
         */
        post: operations["syncIdentityProvider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/identity-providers/{id}/sync-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sync runs of an identity provider, newest first
         * @description Needs the scope `identity_providers:read`.
         */
        get: operations["listSyncRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/identity-providers/{id}/sync-runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a sync run and its progress
         * @description Needs the scope `identity_providers:read`.
         */
        get: operations["getSyncRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/identity-providers/{id}/sync-runs/{run_id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the changes of a sync run
         * @description Needs the scope `users:read`.
         */
        get: operations["listSyncChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/identity-providers/{id}/preflight": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say who the people of a directory would be here, before it pushes them
         * @description Needs the scope `users:read`.
         */
        post: operations["preflightIdentityProvider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/identity-providers/{id}/conflicts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the users of a directory whose address somebody else has
         * @description Needs the scope `users:read`.
         */
        get: operations["listConflicts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/identity-providers/{id}/conflicts/{conflict_id}/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decide who a user of a directory is here
         * @description Needs the scope `users:write`.
         */
        post: operations["settleConflict"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provisioners": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List provisioners
         * @description Needs the scope `provisioners:read`.
         */
        get: operations["listProvisioners"];
        put?: never;
        /**
         * Set up a provisioner
         * @description Needs the scope `provisioners:write`.
         */
        post: operations["createProvisioner"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provisioners/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a provisioner
         * @description Needs the scope `provisioners:read`.
         */
        get: operations["getProvisioner"];
        put?: never;
        post?: never;
        /**
         * Delete a provisioner that has no access left at its target
         * @description Needs the scope `provisioners:write`.
         */
        delete: operations["deleteProvisioner"];
        options?: never;
        head?: never;
        /**
         * Update a provisioner
         * @description Needs the scope `provisioners:write`.
         */
        patch: operations["updateProvisioner"];
        trace?: never;
    };
    "/v1/provisioners/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a provisioner
         * @description Needs the scope `provisioners:write`.
         */
        post: operations["testProvisioner"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provisioners/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secrets that a provisioner shares with its target
         * @description Needs the scope `provisioners:write`.
         */
        post: operations["rotateProvisionerSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provisioners/{id}/orphans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List access at the target of a provisioner that no grant gave, as the last sweep found it
         * @description Needs the scope `provisioners:read`.
         */
        get: operations["listOrphans"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provisioners/{id}/orphans/{orphan_id}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End access at a target that this installation gave and whose grant is lost; also needs grants:revoke
         * @description Needs the scope `provisioners:write`.
         */
        post: operations["endOrphan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provisioners/{id}/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Report the result of an act, as the receiver of a webhook */
        post: operations["reportAccessResult"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provisioners/{id}/inventory": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what the target of a provisioner says of itself, as a summary
         * @description Needs the scope `provisioners:read`.
         */
        get: operations["getInventory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provisioners/{id}/inventory/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have the inventory of a provisioner read now
         * @description Needs the scope `provisioners:write`.
         */
        post: operations["refreshInventory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provisioners/{id}/unmatched-users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List active users whom the target of a provisioner would not find
         * @description Needs the scope `provisioners:read`.
         */
        get: operations["listUnmatchedUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provisioners/{id}/standing-access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who holds which permission set on which account today, by account or by person
         * @description Needs the scope `provisioners:read`.
         */
        get: operations["listStandingAccess"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provisioners/{id}/standing-access/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export who holds which permission set on which account today, as CSV
         * @description Needs the scope `provisioners:read`.
         */
        get: operations["exportStandingAccess"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rehearsal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get whether the tenant is in rehearsal, and what the rehearsal has made
         * @description Needs the scope `users:read`.
         */
        get: operations["getRehearsal"];
        put?: never;
        /**
         * Create colleagues, accounts and rules to rehearse with
         * @description Needs the scope `settings:write`.
         */
        post: operations["createRehearsal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rehearsal/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get a token of 15 minutes for a person of the rehearsal */
        post: operations["createRehearsalToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenant/go-live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End the rehearsal: what the tenant grants is real from then on */
        post: operations["goLive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your own notifications, newest first */
        get: operations["listNotifications"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/notifications/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream your own notifications (server-sent events) */
        get: operations["streamNotifications"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/notification-preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get which notifications are mailed to you */
        get: operations["getOwnNotificationPreferences"];
        /** Set which notifications are mailed to you */
        put: operations["setOwnNotificationPreferences"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream which records changed that you may see, and your own notifications (server-sent events) */
        get: operations["streamChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/notifications/{id}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Mark one of your notifications as read */
        post: operations["markNotificationRead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/notifications/read-all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Mark all of your notifications as read */
        post: operations["markAllNotificationsRead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit log, newest first
         * @description Needs the scope `audit:read`.
         */
        get: operations["listAuditEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit-events/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the audit log in the order of the commits, one event per line (NDJSON); `after` follows it
         * @description Needs the scope `audit:read`.
         */
        get: operations["exportAuditEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    eventMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An event, sent to the receiver of a webhook channel */
        post: {
            parameters: {
                query?: never;
                header: {
                    /** @description the same in every attempt to send this message */
                    "webhook-id": string;
                    /** @description seconds since 1970: the time of this attempt */
                    "webhook-timestamp": string;
                    /** @description `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several are separated by spaces */
                    "webhook-signature": string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @enum {string} */
                        type: "request.created" | "request.approved" | "request.denied" | "request.expired" | "request.cancelled" | "request.commented" | "request.reminded" | "request.unapprovable" | "request.break_glass" | "grant.activated" | "grant.expiring" | "grant.expired" | "grant.revoked" | "grant.failed" | "grant.drifted" | "grant.credentials_issued" | "grant.objects_left" | "provisioner.drifted" | "provisioner.orphans_held_back" | "provisioner.orphan_ending" | "provisioner.orphan_ended" | "policy.created" | "policy.updated" | "policy.deleted" | "policy.rule_texts" | "policy.reordered" | "policy.cases_changed" | "action.described" | "action.description_removed" | "role.created" | "role.updated" | "role.deleted" | "role.assigned" | "group.created" | "group.updated" | "group.deleted" | "group.member_added" | "group.member_removed" | "group.role_mappings_changed" | "user.created" | "user.invited" | "user.invitation_revoked" | "user.joined" | "user.linked" | "user.updated" | "user.deactivated" | "user.reactivated" | "user.suspended" | "user.unsuspended" | "user.access_ended" | "user.refresh_token_reused" | "user.removal_refused" | "user.deleted" | "api_key.created" | "api_key.revoked" | "setting.updated" | "cloud_accounts.updated" | "cloud_accounts.discovered" | "notification_channel.created" | "notification_channel.updated" | "notification_channel.deleted" | "notification_channel.disabled" | "notification_channel.secret_rotated" | "identity_provider.created" | "identity_provider.updated" | "identity_provider.deleted" | "identity_provider.conflict_found" | "identity_provider.conflict_settled" | "identity_provider.mass_removal" | "identity_provider.sync_requested" | "identity_provider.synced" | "identity_provider.sync_failed" | "provisioner.contested" | "provisioner.claimed" | "provisioner.created" | "provisioner.updated" | "provisioner.deleted" | "provisioner.tested" | "provisioner.secret_rotated" | "notification_channel.tested" | "notification_channel.resent" | "policy.replayed" | "tenant.created" | "tenant.renamed" | "tenant.went_live" | "tenant.rehearsal_created" | "user.rehearsal_token_created" | "tenant.suspended" | "tenant.resumed" | "tenant.slug_set" | "tenant.slug_removed" | "tenant.events_dropped" | "tenant.mail_domain_added" | "tenant.mail_domain_removed" | "user.setup_link_created" | "user.set_up" | "user.password_reset" | "user.password_changed" | "user.second_factor_added" | "user.second_factor_removed" | "user.recovery_codes_replaced" | "user.second_factors_reset" | "grant.end_moved" | "grant.retried" | "request.refused" | "access.refused" | "auth.signed_in" | "auth.second_factor_required" | "auth.refused" | "auth.session_started" | "auth.refreshed" | "auth.signed_out";
                        /**
                         * Format: date-time
                         * @description the time of the event, not of the sending
                         */
                        timestamp: string;
                        data: {
                            /** Format: uuid */
                            id: string;
                            actor: {
                                /** @enum {string} */
                                kind: "user" | "api_key" | "operator" | "system";
                                /** Format: uuid */
                                id: string | null;
                                /** Format: uuid */
                                api_key_id: string | null;
                            };
                            subject: {
                                type: string;
                                id: string;
                            };
                            data: {
                                [key: string]: unknown;
                            };
                            /** @description the id of the request in the service’s log */
                            request_id: string;
                            /** Format: uuid */
                            tenant_id: string;
                            /**
                             * @description of the tenant, at the time of the event: in rehearsal, what no provisioner serves is simulated
                             * @enum {string}
                             */
                            mode: "rehearsal" | "live";
                        };
                    };
                };
            };
            responses: {
                /** @description the receiver is permanently gone: its channel is switched off */
                410: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description the receiver is overloaded: all messages wait, until `Retry-After` when present; the same for 502, 503 and 504 */
                429: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description delivered */
                "2XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description this message is retried for 28 hours */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        AccessRequest: {
            /** Format: uuid */
            id: string;
            /** @description the user who made the request: the subject of their token */
            requester_id: string;
            resource: components["schemas"]["ResourceReference"];
            action: string;
            reason: string | null;
            /** @enum {string} */
            status: "pending" | "approved" | "denied" | "expired" | "cancelled";
            /** @description the reason for the decision, from the approver or the rule that decided */
            decision_reasoning: string | null;
            /** @description the user who approved or denied it */
            decided_by: string | null;
            /** @enum {string|null} */
            approval_mode: "require" | "auto" | "break_glass" | null;
            break_glass: boolean;
            duration_seconds: number | null;
            metadata: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        AccessRequestDetail: {
            /** Format: uuid */
            id: string;
            /** @description the user who made the request: the subject of their token */
            requester_id: string;
            resource: components["schemas"]["ResourceReference"];
            action: string;
            reason: string | null;
            /** @enum {string} */
            status: "pending" | "approved" | "denied" | "expired" | "cancelled";
            /** @description the reason for the decision, from the approver or the rule that decided */
            decision_reasoning: string | null;
            /** @description the user who approved or denied it */
            decided_by: string | null;
            /** @enum {string|null} */
            approval_mode: "require" | "auto" | "break_glass" | null;
            break_glass: boolean;
            duration_seconds: number | null;
            metadata: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /**
             * Format: uuid
             * @description the grant that it makes last longer; null: none
             */
            extends: string | null;
            /** @description the shorter duration that the approver gave; null where it is the requested one */
            approved_duration_seconds: number | null;
            /**
             * Format: date-time
             * @description when its requester last reminded those who may decide it; null: never. Ten minutes later they may again
             */
            reminded_at: string | null;
            /** @enum {string} */
            risk: "high" | "normal";
            /** @description why the risk is high. break_glass: an emergency; administrator: the permission set AdministratorAccess, PowerUserAccess or IAMFullAccess; sensitive_account: an account with the tag `sensitivity=high` */
            risk_reasons: ("break_glass" | "administrator" | "sensitive_account")[];
            requester_name: string;
            /** @description null while no person decided it */
            decided_by_name: string | null;
            /** @description the name of a cached cloud account; null where none is known */
            resource_name: string | null;
            /** @description what the action means: in the tenant’s own words, else in those of AWS about the permission set that it names; null where it is not described */
            action_description: string | null;
            /** @description whether you may approve or deny it now */
            may_decide: boolean;
            /** @description why you may not decide it, in words; null where you may */
            why_not: string | null;
            /** @description how many comments it has, at most 100 */
            comment_count: number;
            /** @description the names of the requester’s groups, at most 50; for those who may decide */
            requester_groups?: string[];
            /** @description the policy that let the request be made; for those who may decide */
            policy_name?: string | null;
            recent?: components["schemas"]["RecentRequests"];
        };
        AccessRequestStatusView: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            status: "pending" | "approved" | "denied" | "expired" | "cancelled";
            grants: components["schemas"]["GrantView"][];
        };
        AiProvider: {
            /** @enum {string} */
            type: "provider_a" | "provider_b" | "provider_c";
            config: {
                [key: string]: unknown;
            };
            is_default: boolean;
            /** Format: date-time */
            updated_at?: string;
        };
        ApiKey: {
            /** Format: uuid */
            id: string;
            name: string;
            scopes: string[];
            /** @description id of the user for whom the key acts */
            created_by: string;
            /** Format: date-time */
            last_used_at: string | null;
            /** Format: date-time */
            expires_at: string | null;
            /** Format: date-time */
            revoked_at: string | null;
            /** @description id of the user; null if the operator revoked it */
            revoked_by: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            identity_provider_id?: string;
        };
        AuditEvent: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            type: "request.created" | "request.approved" | "request.denied" | "request.expired" | "request.cancelled" | "request.commented" | "request.reminded" | "request.unapprovable" | "request.break_glass" | "grant.activated" | "grant.expiring" | "grant.expired" | "grant.revoked" | "grant.failed" | "grant.drifted" | "grant.credentials_issued" | "grant.objects_left" | "provisioner.drifted" | "provisioner.orphans_held_back" | "provisioner.orphan_ending" | "provisioner.orphan_ended" | "policy.created" | "policy.updated" | "policy.deleted" | "policy.rule_texts" | "policy.reordered" | "policy.cases_changed" | "action.described" | "action.description_removed" | "role.created" | "role.updated" | "role.deleted" | "role.assigned" | "group.created" | "group.updated" | "group.deleted" | "group.member_added" | "group.member_removed" | "group.role_mappings_changed" | "user.created" | "user.invited" | "user.invitation_revoked" | "user.joined" | "user.linked" | "user.updated" | "user.deactivated" | "user.reactivated" | "user.suspended" | "user.unsuspended" | "user.access_ended" | "user.refresh_token_reused" | "user.removal_refused" | "user.deleted" | "api_key.created" | "api_key.revoked" | "setting.updated" | "cloud_accounts.updated" | "cloud_accounts.discovered" | "notification_channel.created" | "notification_channel.updated" | "notification_channel.deleted" | "notification_channel.disabled" | "notification_channel.secret_rotated" | "identity_provider.created" | "identity_provider.updated" | "identity_provider.deleted" | "identity_provider.conflict_found" | "identity_provider.conflict_settled" | "identity_provider.mass_removal" | "identity_provider.sync_requested" | "identity_provider.synced" | "identity_provider.sync_failed" | "provisioner.contested" | "provisioner.claimed" | "provisioner.created" | "provisioner.updated" | "provisioner.deleted" | "provisioner.tested" | "provisioner.secret_rotated" | "notification_channel.tested" | "notification_channel.resent" | "policy.replayed" | "tenant.created" | "tenant.renamed" | "tenant.went_live" | "tenant.rehearsal_created" | "user.rehearsal_token_created" | "tenant.suspended" | "tenant.resumed" | "tenant.slug_set" | "tenant.slug_removed" | "tenant.events_dropped" | "tenant.mail_domain_added" | "tenant.mail_domain_removed" | "user.setup_link_created" | "user.set_up" | "user.password_reset" | "user.password_changed" | "user.second_factor_added" | "user.second_factor_removed" | "user.recovery_codes_replaced" | "user.second_factors_reset" | "grant.end_moved" | "grant.retried" | "request.refused" | "access.refused" | "auth.signed_in" | "auth.second_factor_required" | "auth.refused" | "auth.session_started" | "auth.refreshed" | "auth.signed_out";
            /** Format: date-time */
            at: string;
            actor: {
                /** @enum {string} */
                kind: "user" | "api_key" | "operator" | "system";
                /** Format: uuid */
                id: string | null;
                /** Format: uuid */
                api_key_id: string | null;
            };
            subject: {
                type: string;
                id: string;
            };
            data: {
                [key: string]: unknown;
            };
            /** @description the id of the request in the service’s log */
            request_id: string;
        };
        BegunSecondFactor: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "totp" | "passkey";
            /**
             * Format: date-time
             * @description confirm it by then
             */
            expires_at: string;
            totp?: {
                /** @description to type into the app; it is shown only here */
                secret: string;
                /** @description the same for a QR code */
                uri: string;
            };
            /** @description for `PublicKeyCredential.parseCreationOptionsFromJSON()` */
            passkey?: {
                [key: string]: unknown;
            };
        };
        /** @description how much harm a holder of the role could do, and by which scopes */
        BlastRadius: {
            /** @enum {string} */
            level: "low" | "medium" | "high" | "critical";
            reasons: string[];
        };
        CaseOutcome: {
            case: string;
            required: boolean;
            passed: boolean;
            expected: {
                /** @enum {string} */
                expect: "permit" | "forbid";
                /**
                 * @description the approval mode of a permitted request
                 * @enum {string}
                 */
                mode?: "require" | "auto" | "break_glass";
                audit_session?: boolean;
                /** @description a text that one of the notices must contain */
                notice?: string;
                /** @description rules that must be among the deciding rules */
                rule_ids?: string[];
            };
            got: {
                /** @enum {string} */
                answer: "permit" | "forbid";
                /** @enum {string|null} */
                mode: "require" | "auto" | "break_glass" | null;
                audit_session: boolean;
                /** @description the first 3 */
                notices: string[];
                /** @description only with policies:read */
                reasoning?: string;
                /** @description the first 20 of the rules that decided; only with policies:read */
                rule_ids?: string[];
            };
        };
        CaseOutcomes: {
            passed: number;
            failed: number;
            outcomes: components["schemas"]["CaseOutcome"][];
        };
        CatalogueEntry: {
            resource: components["schemas"]["ResourceReference"];
            /** @description the name of a cached account, or of a database or unit that an inventory found; null where none is known */
            resource_name: string | null;
            action: string;
            /** @description what the action means: in the tenant’s own words, else in those of AWS about the permission set that it names; null where it is not described */
            action_description: string | null;
            /**
             * @description how a request of `duration_seconds` would be approved: at once, or when a person decides
             * @enum {string}
             */
            answer: "at_once" | "by_approval";
            /** @description true: only an emergency may have it; it is approved at once, and all approvers are notified */
            break_glass: boolean;
            /** @description only a request with a reason gets this answer */
            needs_reason: boolean;
            /** @description the default duration; where that does not pass, the longest that does */
            duration_seconds: number;
            /** @description the longest duration that passes, though perhaps with another answer */
            max_duration_seconds: number;
            /**
             * Format: uuid
             * @description a grant of the caller that is pending or active; null where there is none
             */
            live_grant_id: string | null;
            is_favourite: boolean;
        };
        CloudAccount: {
            /** @description the entry's own id, by which a later call updates it */
            id: string;
            /** @description a display name; default: the account number */
            name: string;
            /** @description the account number; access can be requested only to one of 12 digits */
            account_id: string;
            metadata: {
                [key: string]: unknown;
            };
            /** @description the list begins with the lowest; default: 0 */
            rank: number;
        };
        CloudAccountInput: {
            /** @description the entry's own id, by which a later call updates it */
            id: string;
            /** @description the account number; access can be requested only to one of 12 digits */
            account_id: string;
            /** @description a display name; default: the account number */
            name?: string;
            /** @description at most 16 KiB of JSON, without names that begin with `__`; `organizational_unit_ids`: the units that contain the account, at most 16, such as `ou-ab12-12345678` */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description the list begins with the lowest; default: 0 */
            rank?: number;
        };
        ConfirmedSecondFactor: {
            factor: components["schemas"]["SecondFactor"];
            /** @description each signs in once in place of the second factor; they are shown only here */
            recovery_codes?: string[];
        };
        /** @description how the holder connects; it never contains a secret */
        Connect: {
            /**
             * @description the kind of target; the field of that name, if there is one, holds the same facts as data
             * @enum {string}
             */
            kind: "aws" | "postgresql" | "webhook" | "sandbox";
            /** @description what to do, as plain text */
            summary: string;
            /** @description https links */
            links: {
                label: string;
                url: string;
            }[];
            fields: {
                label: string;
                value: string;
            }[];
            /** @description lines for a POSIX shell, in order; each is quoted, and can be pasted as it is */
            commands: {
                label: string;
                text: string;
            }[];
            /** @description lines to add to files, before the commands are run */
            files: {
                label: string;
                /** @description a file of the holder, such as `~/.aws/config` */
                path: string;
                lines: string[];
            }[];
            aws?: {
                account_id: string;
                /** @description its name: the role of the account in the access portal */
                permission_set: string;
                /** @description the start URL of the access portal */
                portal_url?: string;
                /** @description the region of the access portal */
                sso_region: string;
                /** @description the name of the profile in `files` */
                profile?: string;
            };
            postgresql?: {
                host: string;
                port: number;
                database: string;
                login: string;
                /** @description the role that the login holds */
                role: string;
                /** @description true: `POST /v1/grants/{id}/credentials` gives its holder a password */
                makes_credentials?: boolean;
            };
        };
        CreatedRequest: {
            /** Format: uuid */
            id: string;
            /** @description the user who made the request: the subject of their token */
            requester_id: string;
            resource: components["schemas"]["ResourceReference"];
            action: string;
            reason: string | null;
            /** @enum {string} */
            status: "pending" | "approved" | "denied" | "expired" | "cancelled";
            /** @description the reason for the decision, from the approver or the rule that decided */
            decision_reasoning: string | null;
            /** @description the user who approved or denied it */
            decided_by: string | null;
            /** @enum {string|null} */
            approval_mode: "require" | "auto" | "break_glass" | null;
            break_glass: boolean;
            duration_seconds: number | null;
            metadata: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /**
             * Format: uuid
             * @description the grant that it makes last longer; null: none
             */
            extends: string | null;
            /** @enum {string} */
            risk: "high" | "normal";
            /** @description why the risk is high. break_glass: an emergency; administrator: the permission set AdministratorAccess, PowerUserAccess or IAMFullAccess; sensitive_account: an account with the tag `sensitivity=high` */
            risk_reasons: ("break_glass" | "administrator" | "sensitive_account")[];
            /** @description absent where there are none */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        CurrentSignIn: {
            /** @description the means, as in RFC 8176; it has `mfa` where there were two factors */
            amr: string[];
            /** Format: date-time */
            auth_time: string;
            /** @description whether the user must sign in with a second factor once the tenant is live; a live tenant answers no sign-in that lacks it */
            needs_second_factor: boolean;
        };
        Deciders: {
            /** @description at most 20, by name */
            names: string[];
            /** @description how many, of the first 100 users who hold the scope */
            count: number;
            /** @description whether all who hold the scope were examined */
            is_complete: boolean;
        };
        DecisionInput: {
            /**
             * Format: uuid
             * @description the request
             */
            id: string;
            /** @enum {string} */
            decision: "approve" | "deny";
            reasoning?: string | null;
        };
        /** @description with the `request` where it was decided, else with the `error` */
        DecisionResult: {
            /** Format: uuid */
            id: string;
            /** @description the HTTP status that the call for this request alone would have */
            status: number;
            request?: components["schemas"]["AccessRequest"];
            error?: components["schemas"]["Error"];
        };
        Delivery: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            event_id: string;
            event_type: string;
            /** @description an address; absent for a webhook, which has one recipient */
            recipient?: string;
            /** @enum {string} */
            status: "pending" | "delivered" | "failed";
            /** @description the number of attempts begun */
            attempts: number;
            /** @description how often a user sent it again */
            resends: number;
            /** @description why the last attempt failed */
            last_error: string | null;
            /** @description the answer of the receiver or mail server that accepted it */
            last_response: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            attempted_at: string | null;
            /** Format: date-time */
            next_attempt_at: string | null;
            /** Format: date-time */
            delivered_at: string | null;
        };
        DescribedAction: {
            /** @description as rules and requests name it */
            action: string;
            description: string;
            /** Format: date-time */
            updated_at: string;
        };
        DirectoryConflict: {
            /** Format: uuid */
            id: string;
            /** @description the `userName` in the directory */
            user_name: string;
            external_id: string | null;
            /** @description the address in the directory */
            email: string;
            /** @description the name in the directory */
            name: string;
            /**
             * Format: uuid
             * @description the user here who has the address, or the user name
             */
            user_id: string;
            /** @description the name of the user here */
            holder_name: string;
            /** @description whether the user here is active; a settlement with them makes them so */
            holder_active: boolean;
            /** @description the user here is one of this directory, which has stopped them: the person may have come back under another id, or got the address of one who left */
            of_directory: boolean;
            /** @description a person said that the two are not the same */
            kept_apart: boolean;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description when the directory last sent the user
             */
            seen_at: string;
        };
        DiscoveredTenant: {
            /** Format: uuid */
            tenant_id: string;
            /**
             * @description `provider`: the tenant’s own identity provider is enabled; `local`: sign in with e-mail and password
             * @enum {unknown}
             */
            sign_in: "local" | "provider";
            /** @description only with `provider`: send the user there, with your `redirect_uri` added to the query */
            authorize_url?: string;
        };
        EffectivePreferences: {
            /** @description a language tag as in BCP 47 */
            locale: string;
            /** @description an IANA name. A client that detects the zone of its device uses that one, unless `chosen` has `timezone` */
            timezone: string;
            /**
             * @description null: the locale’s format
             * @enum {string|null}
             */
            date_format: "YYYY-MM-DD" | "MM/DD/YYYY" | "DD/MM/YYYY" | null;
            /**
             * @description null: the locale’s format
             * @enum {string|null}
             */
            time_format: "12h" | "24h" | null;
            /** @description what the user has set; the others are the tenant’s settings `locale.default` and `timezone.default`, or null */
            chosen: ("locale" | "timezone" | "date_format" | "time_format")[];
        };
        EmailChannel: {
            /** Format: uuid */
            id: string;
            name: string;
            event_filters: string[];
            enabled: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /**
             * @description never changes
             * @enum {string}
             */
            channel_type: "email";
            config: {
                to_addresses: string[];
                from_address?: string;
                subject_prefix?: string;
            };
        };
        EndedAccess: {
            /** @description how many pending requests were cancelled */
            requests_cancelled: number;
            /** @description how many pending and active grants were ended */
            grants_ended: number;
        };
        EndedSessions: {
            /** @description how many sessions ended */
            ended: number;
        };
        Error: {
            /**
             * @description for programs
             * @enum {string}
             */
            code: "ambiguous_credentials" | "invalid_input" | "invalid_policy" | "unauthenticated" | "second_factor_required" | "invalid_authorization_code" | "forbidden" | "sign_in_again" | "tenant_mismatch" | "tenant_suspended" | "policy_denied" | "not_found" | "method_not_allowed" | "already_extended" | "already_joined" | "already_member" | "case_broken" | "channel_disabled" | "delivery_pending" | "idempotency_in_progress" | "last_owner" | "request_not_cancellable" | "not_in_rehearsal" | "priority_taken" | "provisioner_in_use" | "orphan_not_endable" | "resource_already_served" | "role_in_use" | "replay_in_progress" | "sync_in_progress" | "request_not_pending" | "grant_not_retryable" | "credentials_not_available" | "grant_not_live" | "too_early_to_extend" | "user_exists" | "version_conflict" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "misdirected_request" | "unprocessable" | "idempotency_key_reused" | "rate_limited" | "headers_too_large" | "internal" | "unavailable";
            /** @description for people */
            message: string;
            /** @description more about it */
            details?: {
                [key: string]: unknown;
            };
            /** @description notices of the policy rules that made the decision */
            notices?: string[];
        };
        Favourite: {
            /** Format: uuid */
            id: string;
            resource: components["schemas"]["ResourceReference"];
            action: string;
            /** Format: date-time */
            created_at: string;
        };
        Gains: {
            /** @description the version of the rules with which the draft was compared */
            rule_set_version: string;
            /**
             * Format: date-time
             * @description the moment of the requests: now, or where nobody gains now and rules read the time, the first full hour of the next seven days at which somebody does
             */
            at: string;
            /** @description of the requests: an hour; a quarter of one where only such a request gains; at most the tenant’s maximum */
            duration_seconds: number;
            /** @description by action; emergencies come last */
            changes: components["schemas"]["GainsChange"][];
            examined: components["schemas"]["GainsExtent"];
            total: components["schemas"]["GainsExtent"];
            /** @description whether a new, changed or deleted rule may concern resources other than accounts, as what lies in them: these are not examined */
            has_other_resources: boolean;
            /** @description false: more may change than what is shown */
            is_complete: boolean;
        };
        GainsChange: {
            action: string;
            /**
             * @description `gains`: may not request it now, and may by the draft. `loses`: the reverse. `at_once`: now a person has to decide, and by the draft nobody has to. `needs_approval`: the reverse.
             * @enum {string}
             */
            kind: "gains" | "at_once" | "needs_approval" | "loses";
            /**
             * @description how such a request is approved by the draft; for `loses`, how it is now
             * @enum {string}
             */
            answer: "at_once" | "by_approval";
            /** @description whether the request is an emergency (`break_glass`) */
            emergency: boolean;
            people: {
                /** @description how many people, each on at least one of the accounts */
                count: number;
                /** @description the first 20, by name */
                names: {
                    /** Format: uuid */
                    id: string;
                    name: string;
                }[];
            };
            accounts: {
                /** @description how many accounts, each for at least one of the people */
                count: number;
                /** @description the first 20, in the order of the list; `id`: the account number */
                names: components["schemas"]["GainsName"][];
            };
        };
        /** @description what there is: active users who may request, cached accounts, and actions that new, changed and deleted rules name */
        GainsExtent: {
            people: number;
            accounts: number;
            actions: number;
        };
        GainsName: {
            id: string;
            name: string;
        };
        Grant: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {string} */
            status: "pending" | "active" | "expired" | "revoked" | "failed";
            approved: boolean;
            /** Format: date-time */
            expires_at?: string;
            /** Format: date-time */
            activated_at?: string;
            /** @enum {string} */
            provisioning_status?: "not_attempted" | "attempting" | "successful" | "failed" | "deprovisioning" | "deprovisioned" | "deprovisioning_failed";
            provisioning: components["schemas"]["Provisioning"];
            /** @description of a grant that has ended: whether its access is no longer at the target, as of the last check. `false`: it still is, whatever `status` says; `provisioning` says why */
            gone?: boolean;
            /**
             * Format: date-time
             * @description until when a session that was issued at the last moment may stay valid; null: not known; left out: no session stays valid
             */
            sessions_may_live_until?: string | null;
            /** @description why sessions stay valid after the end, when they should have been ended with it; left out: there is nothing to explain */
            sessions_note?: string;
            session_record?: components["schemas"]["SessionRecord"];
            /** Format: uuid */
            request_id: string;
            /** Format: uuid */
            user_id: string;
            resource: {
                type: string;
                id: string;
            };
            action: string;
            duration_seconds: number;
            /** Format: date-time */
            ended_at?: string;
            /** Format: uuid */
            ended_by: string | null;
            end_reason: string | null;
            /** @description the last error message of the target */
            last_error: string | null;
            connect?: components["schemas"]["Connect"];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        GrantCredentials: {
            /** @description the login that was made for the grant */
            user: string;
            /** @description a new one: shown only here, and kept nowhere */
            password: string;
            /**
             * Format: date-time
             * @description when the grant ends; an extension is not counted
             */
            valid_until: string;
        };
        GrantDetail: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {string} */
            status: "pending" | "active" | "expired" | "revoked" | "failed";
            approved: boolean;
            /** Format: date-time */
            expires_at?: string;
            /** Format: date-time */
            activated_at?: string;
            /** @enum {string} */
            provisioning_status?: "not_attempted" | "attempting" | "successful" | "failed" | "deprovisioning" | "deprovisioned" | "deprovisioning_failed";
            provisioning: components["schemas"]["Provisioning"];
            /** @description of a grant that has ended: whether its access is no longer at the target, as of the last check. `false`: it still is, whatever `status` says; `provisioning` says why */
            gone?: boolean;
            /**
             * Format: date-time
             * @description until when a session that was issued at the last moment may stay valid; null: not known; left out: no session stays valid
             */
            sessions_may_live_until?: string | null;
            /** @description why sessions stay valid after the end, when they should have been ended with it; left out: there is nothing to explain */
            sessions_note?: string;
            session_record?: components["schemas"]["SessionRecord"];
            /** Format: uuid */
            request_id: string;
            /** Format: uuid */
            user_id: string;
            resource: {
                type: string;
                id: string;
            };
            action: string;
            duration_seconds: number;
            /** Format: date-time */
            ended_at?: string;
            /** Format: uuid */
            ended_by: string | null;
            end_reason: string | null;
            /** @description the last error message of the target */
            last_error: string | null;
            connect?: components["schemas"]["Connect"];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /**
             * Format: uuid
             * @description the grant whose time it goes on from; null: none
             */
            extends: string | null;
            user_name: string;
            /** @description null while no person ended it */
            ended_by_name: string | null;
            /** @description the name of a cached cloud account; null where none is known */
            resource_name: string | null;
            /** @description what the action means: in the tenant’s own words, else in those of AWS about the permission set that it names; null where it is not described */
            action_description: string | null;
            /** @description `sandbox` for the one of the rehearsal, which simulates what no provisioner serves; null until its target is known */
            provisioner_name: string | null;
            /**
             * Format: uuid
             * @description null where a rule approved the request
             */
            approved_by: string | null;
            approved_by_name: string | null;
            /** @description whether its request was an emergency */
            break_glass: boolean;
            /** @description its access was removed at the target by hand while the grant held it */
            drifted: boolean;
            /** @description the request that extends it: pending, or approved with access that lasts `until` then; null: it is not extended */
            extended_by: {
                /** Format: uuid */
                request_id: string;
                /** @enum {string} */
                status: "pending" | "approved";
                /** Format: date-time */
                until: string | null;
            } | null;
            /** @description its holder may ask to extend it; null where it is not active, is extended already, or has reached the tenant’s maximum */
            extendable: {
                /**
                 * Format: date-time
                 * @description half of its time is used from then on
                 */
                from: string;
                /** @description by how much, at most: with what came before, the tenant’s maximum */
                max_duration_seconds: number;
            } | null;
        };
        GrantView: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {string} */
            status: "pending" | "active" | "expired" | "revoked" | "failed";
            approved: boolean;
            /** Format: date-time */
            expires_at?: string;
            /** Format: date-time */
            activated_at?: string;
            /** @enum {string} */
            provisioning_status?: "not_attempted" | "attempting" | "successful" | "failed" | "deprovisioning" | "deprovisioned" | "deprovisioning_failed";
            provisioning: components["schemas"]["Provisioning"];
            /** @description of a grant that has ended: whether its access is no longer at the target, as of the last check. `false`: it still is, whatever `status` says; `provisioning` says why */
            gone?: boolean;
            /**
             * Format: date-time
             * @description until when a session that was issued at the last moment may stay valid; null: not known; left out: no session stays valid
             */
            sessions_may_live_until?: string | null;
            /** @description why sessions stay valid after the end, when they should have been ended with it; left out: there is nothing to explain */
            sessions_note?: string;
            session_record?: components["schemas"]["SessionRecord"];
        };
        Group: {
            /** Format: uuid */
            id: string;
            name: string;
            /**
             * @description where it is managed: here (`local`), or in a directory only
             * @enum {string}
             */
            source: "local" | "scim" | "identity_provider";
            /** @description omitted when empty */
            description?: string;
            member_count: number;
            /** @description ids of the roles that its members hold through it */
            role_mappings: string[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        GroupDetail: {
            /** Format: uuid */
            id: string;
            name: string;
            /**
             * @description where it is managed: here (`local`), or in a directory only
             * @enum {string}
             */
            source: "local" | "scim" | "identity_provider";
            /** @description omitted when empty */
            description?: string;
            member_count: number;
            /** @description ids of the roles that its members hold through it */
            role_mappings: string[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /**
             * Format: uuid
             * @description the sign-in provider whose claims give the memberships, if one does
             */
            sign_in_provider_id?: string;
            /** @description false: a user who may decide a request by such groups alone is not notified of it. Emergencies notify every approver. */
            members_notified: boolean;
        };
        GroupMapping: {
            value: string;
            /** Format: uuid */
            group_id: string;
            /** @description false: the group gives scopes that nobody vouched for; a caller who holds them saves the mapping again */
            in_effect: boolean;
        };
        GroupMember: {
            /** Format: uuid */
            group_id: string;
            /** Format: uuid */
            user_id: string;
            /**
             * @description the source of the membership
             * @enum {string}
             */
            membership_source: "local" | "scim" | "identity_provider";
            /** Format: date-time */
            created_at: string;
        };
        IdentityProvider: {
            /** Format: uuid */
            id: string;
            name: string;
            /**
             * @description never changes
             * @enum {string}
             */
            provider_type: "cloud_identity_center" | "directory_a" | "directory_b" | "directory_c" | "chat_service" | "code_hosting" | "incident_service" | "custom_scim";
            config: {
                [key: string]: unknown;
            };
            enabled: boolean;
            /** Format: date-time */
            last_synced_at: string | null;
            /**
             * @description of a directory that pushes: `synced` once it has called
             * @enum {string}
             */
            sync_status: "pending" | "syncing" | "synced" | "failed";
            sync_error: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        ImportResult: {
            dry_run: boolean;
            /** @description Rules that are in the file and were not in the policy. */
            added: number;
            /** @description Rules with a new statement or ordinal. */
            changed: number;
            /** @description Rules that are not in the file. */
            removed: number;
            /** @description Rules that did not change. */
            unchanged: number;
            /** @description The first 100, in the order of the file. */
            changes: {
                /** @enum {unknown} */
                change: "added" | "changed" | "removed";
                /** Format: uuid */
                rule_id?: string;
                /** @description The number of the statement in the file, from 1. */
                statement?: number;
                /** @description The line on which the statement begins in the file. */
                line?: number;
                warnings?: string[];
            }[];
        };
        InvariantsAnswer: {
            /** @description The version of the current rules. */
            rule_set_version: string;
            /** @description In the order of the checks. */
            checks: {
                /** @enum {string} */
                result: "proved" | "counterexample" | "not_found_in_search";
                /** @description The number of questions evaluated in search of a counterexample. */
                tried: number;
                /** @description A question, in the form of a case, with its decision; `before` is the decision by the current rules. */
                counterexample?: {
                    who: {
                        id: string;
                        email: string;
                        email_verified: boolean;
                        name: string;
                        auth_provider: string;
                        is_owner: boolean;
                        groups: string[];
                        roles: string[];
                        scopes: string[];
                        department?: string;
                        manager?: string;
                        title?: string;
                    };
                    /** @description The requested action; or */
                    asks?: string;
                    /** @description the action of the request that `who` decides. */
                    approves?: string;
                    requester?: {
                        id: string;
                        email: string;
                        email_verified: boolean;
                        name: string;
                        auth_provider: string;
                        is_owner: boolean;
                        groups: string[];
                        roles: string[];
                        scopes: string[];
                        department?: string;
                        manager?: string;
                        title?: string;
                    };
                    resource: {
                        /** @enum {string} */
                        type: "cloud_account" | "cloud_permission_set" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance" | "cloud_organizational_unit";
                        id: string;
                        name?: string;
                        tags: {
                            [key: string]: string;
                        };
                        in: string[];
                    };
                    context: {
                        duration_seconds: number;
                        has_reason: boolean;
                        break_glass: boolean;
                        /** Format: date-time */
                        now: string;
                        time_zone: string;
                        via: string;
                        source_ip: string;
                    };
                    decision: {
                        allowed: boolean;
                        /** @enum {string|null} */
                        mode: "require" | "auto" | "break_glass" | null;
                        reasoning: string;
                        rule_ids: string[];
                    };
                    before?: {
                        allowed: boolean;
                        /** @enum {string|null} */
                        mode: "require" | "auto" | "break_glass" | null;
                        reasoning: string;
                        rule_ids: string[];
                    };
                };
            }[];
        };
        Inventory: {
            /** @description empty: the target is of a type that is not read, or was not tested yet */
            parts: components["schemas"]["InventoryPart"][];
            /** @description as of when the part was read; null: not read yet */
            counts: {
                accounts: number | null;
                organizational_units: number | null;
                permission_sets: number | null;
                databases: number | null;
                people: number | null;
                groups: number | null;
                assignments: number | null;
                /** @description people who hold a set that makes an administrator, themselves or by a group, on any account */
                administrators: number | null;
            };
            /** @description active users whom the target would not find; 1000: that or more; null: its people were not read yet */
            unmatched_users: number | null;
            /** @description the setting `requests.max_duration_seconds` */
            longest_grant_seconds: number;
            /** @description permission sets whose sessions outlive the longest grant, at most 100 */
            long_sessions: {
                id: string;
                name: string;
                session_seconds: number;
            }[];
        };
        InventoryPart: {
            /** @enum {string} */
            part: "accounts" | "permission_sets" | "people" | "databases" | "assignments";
            /**
             * Format: date-time
             * @description when it was last read to its end; null: never
             */
            finished_at: string | null;
            /**
             * Format: date-time
             * @description when it is read next; null: it is being read
             */
            next_at: string | null;
            reading: boolean;
            /** @description why it could not be read, and how to fix that, or what the lists leave out */
            error: string | null;
        };
        Invitation: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            user_id: string;
            email: string;
            name: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: uuid
             * @description the user who made it, or whose API key did
             */
            created_by: string | null;
            mail: components["schemas"]["InvitationMail"];
            /** @enum {string} */
            state: "pending" | "used" | "revoked" | "replaced" | "expired";
            /** Format: date-time */
            ended_at?: string;
        };
        InvitationLink: {
            tenant: {
                /** Format: uuid */
                id: string;
                name: string;
            };
            /** @description the address that was invited */
            email: string;
            /** @description the name that the inviter gave; the person may change it */
            name: string;
            /** Format: date-time */
            expires_at: string;
            /**
             * @description how the person signs in: by the tenant’s provider, or with a password that they set with the link
             * @enum {string}
             */
            leads_to: "provider" | "password";
            /** @description characters that a password needs at least */
            password_min_length: number;
        };
        InvitationMail: {
            /**
             * @description `not_set_up`: the service had no mail server, so the link was not mailed
             * @enum {string}
             */
            state: "not_set_up" | "pending" | "sent" | "failed";
            /**
             * Format: date-time
             * @description when the mail server accepted it
             */
            sent_at?: string;
            /** @description why the last attempt failed, or why there was none */
            error?: string;
        };
        IssuedRefreshToken: {
            /** Format: uuid */
            id: string;
            /** @description to send to `POST /v1/auth/refresh`, once, when the token expires; keep it secret */
            refresh_token: string;
            /** Format: date-time */
            ends_at: string;
            /** @description the session ends earlier when it is not used for so long */
            idle_seconds: number;
        };
        /** @description either `token` and `expires_at`, or `authorize_url` */
        Joined: {
            /** @description with a password: a JWT, to send as `Authorization: Bearer` */
            token?: string;
            /**
             * Format: date-time
             * @description with a password: the end of the token
             */
            expires_at?: string;
            /** @description by the provider: where the browser goes on to sign in; there is no token yet */
            authorize_url?: string;
        };
        Jwks: {
            keys: {
                [key: string]: unknown;
            }[];
        };
        ListedFavourite: {
            /** Format: uuid */
            id: string;
            resource: components["schemas"]["ResourceReference"];
            action: string;
            /** Format: date-time */
            created_at: string;
            /** @description whether you may request it now; `GET /v1/catalogue?only=favourites` says how */
            permitted: boolean;
            /** @description as in the catalogue; null where none is known, or the favourite is not permitted */
            resource_name: string | null;
            /** @description as in the catalogue; null where it is not described, or the favourite is not permitted */
            action_description: string | null;
        };
        ListedUser: {
            /** Format: uuid */
            id: string;
            email: string;
            name: string;
            roles: string[];
            /** @enum {string} */
            auth_provider: "local" | "oidc" | "saml";
            active: boolean;
            email_verified: boolean;
            is_owner: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description left out where it is not known */
            department?: string;
            /**
             * Format: uuid
             * @description another user; left out where none is known
             */
            manager_id?: string;
            /**
             * Format: uuid
             * @description the directory that manages the user; left out where nobody else does
             */
            identity_provider_id?: string;
            /**
             * Format: date-time
             * @description present while the user is suspended, whatever `active` says
             */
            suspended_until?: string;
            /** @description present, and true, where the rehearsal made the user */
            rehearsal?: boolean;
            /** @description the job title; left out where it is not known */
            title?: string;
        };
        Live: {
            /** @enum {string} */
            mode: "live";
            /** Format: date-time */
            live_since: string;
        };
        /** @description access of yours to one of these places by this action, the one that ends last; null: none */
        LiveGrant: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            status: "pending" | "active";
            /** Format: date-time */
            expires_at: string | null;
        } | null;
        LogoutAccepted: Record<string, never>;
        MadeApiKey: {
            /** Format: uuid */
            id: string;
            name: string;
            scopes: string[];
            /** @description id of the user for whom the key acts */
            created_by: string;
            /** Format: date-time */
            last_used_at: string | null;
            /** Format: date-time */
            expires_at: string | null;
            /** Format: date-time */
            revoked_at: string | null;
            /** @description id of the user; null if the operator revoked it */
            revoked_by: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            identity_provider_id?: string;
            /** @description the key itself; it is never shown again */
            key: string;
        };
        MadeInvitation: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            user_id: string;
            email: string;
            name: string;
            /** Format: date-time */
            expires_at: string;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: uuid
             * @description the user who made it, or whose API key did
             */
            created_by: string | null;
            mail: components["schemas"]["InvitationMail"];
            /** @description the link, which works once; shown here only */
            url: string;
        };
        MatchedPerson: {
            user_name: string;
            external_id: string | null;
            /**
             * @description who the person would be here
             * @enum {string}
             */
            match: "known" | "add" | "adopt" | "settle" | "left_out" | "refused";
            /**
             * Format: uuid
             * @description the user here who has the id, the name or the address
             */
            user_id: string | null;
            /** @description why the person would be refused */
            message: string | null;
            /** @description of `targets`, those that do not have the person */
            not_found_at: string[];
        };
        NamedAccessRequest: {
            /** Format: uuid */
            id: string;
            /** @description the user who made the request: the subject of their token */
            requester_id: string;
            resource: components["schemas"]["ResourceReference"];
            action: string;
            reason: string | null;
            /** @enum {string} */
            status: "pending" | "approved" | "denied" | "expired" | "cancelled";
            /** @description the reason for the decision, from the approver or the rule that decided */
            decision_reasoning: string | null;
            /** @description the user who approved or denied it */
            decided_by: string | null;
            /** @enum {string|null} */
            approval_mode: "require" | "auto" | "break_glass" | null;
            break_glass: boolean;
            duration_seconds: number | null;
            metadata: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /**
             * Format: uuid
             * @description the grant that it makes last longer; null: none
             */
            extends: string | null;
            /** @description the shorter duration that the approver gave; null where it is the requested one */
            approved_duration_seconds: number | null;
            /**
             * Format: date-time
             * @description when its requester last reminded those who may decide it; null: never. Ten minutes later they may again
             */
            reminded_at: string | null;
            /** @enum {string} */
            risk: "high" | "normal";
            /** @description why the risk is high. break_glass: an emergency; administrator: the permission set AdministratorAccess, PowerUserAccess or IAMFullAccess; sensitive_account: an account with the tag `sensitivity=high` */
            risk_reasons: ("break_glass" | "administrator" | "sensitive_account")[];
            requester_name: string;
            /** @description null while no person decided it */
            decided_by_name: string | null;
            /** @description the name of a cached cloud account; null where none is known */
            resource_name: string | null;
            /** @description what the action means: in the tenant’s own words, else in those of AWS about the permission set that it names; null where it is not described */
            action_description: string | null;
        };
        NamedGrant: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {string} */
            status: "pending" | "active" | "expired" | "revoked" | "failed";
            approved: boolean;
            /** Format: date-time */
            expires_at?: string;
            /** Format: date-time */
            activated_at?: string;
            /** @enum {string} */
            provisioning_status?: "not_attempted" | "attempting" | "successful" | "failed" | "deprovisioning" | "deprovisioned" | "deprovisioning_failed";
            provisioning: components["schemas"]["Provisioning"];
            /** @description of a grant that has ended: whether its access is no longer at the target, as of the last check. `false`: it still is, whatever `status` says; `provisioning` says why */
            gone?: boolean;
            /**
             * Format: date-time
             * @description until when a session that was issued at the last moment may stay valid; null: not known; left out: no session stays valid
             */
            sessions_may_live_until?: string | null;
            /** @description why sessions stay valid after the end, when they should have been ended with it; left out: there is nothing to explain */
            sessions_note?: string;
            session_record?: components["schemas"]["SessionRecord"];
            /** Format: uuid */
            request_id: string;
            /** Format: uuid */
            user_id: string;
            resource: {
                type: string;
                id: string;
            };
            action: string;
            duration_seconds: number;
            /** Format: date-time */
            ended_at?: string;
            /** Format: uuid */
            ended_by: string | null;
            end_reason: string | null;
            /** @description the last error message of the target */
            last_error: string | null;
            connect?: components["schemas"]["Connect"];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /**
             * Format: uuid
             * @description the grant whose time it goes on from; null: none
             */
            extends: string | null;
            user_name: string;
            /** @description null while no person ended it */
            ended_by_name: string | null;
            /** @description the name of a cached cloud account; null where none is known */
            resource_name: string | null;
            /** @description what the action means: in the tenant’s own words, else in those of AWS about the permission set that it names; null where it is not described */
            action_description: string | null;
            /** @description `sandbox` for the one of the rehearsal, which simulates what no provisioner serves; null until its target is known */
            provisioner_name: string | null;
            /**
             * Format: uuid
             * @description null where a rule approved the request
             */
            approved_by: string | null;
            approved_by_name: string | null;
            /** @description whether its request was an emergency */
            break_glass: boolean;
            /** @description its access was removed at the target by hand while the grant held it */
            drifted: boolean;
        };
        NearestMiss: {
            /**
             * @description what would have to change
             * @enum {string}
             */
            kind: "action" | "account" | "duration_seconds" | "has_reason" | "via" | "minute" | "weekday" | "now" | "source_ip" | "break_glass" | "tag" | "name" | "principal" | "resource" | "condition";
            /** @description the explanation, as a sentence */
            words: string;
            /** @description what the rule wants, in words */
            wanted: string;
            /** @description what the request has instead, in words */
            given: string;
            /**
             * @description how the request would then be approved
             * @enum {string|null}
             */
            approval_mode: "require" | "auto" | "break_glass" | null;
            /** @description for that kind: the nearest duration that meets the rule */
            duration_seconds?: number;
            /** @description for that kind: the action that may have been meant */
            action?: string;
            /** @description what would have to change too, where one change is not enough */
            also?: {
                /**
                 * @description what would have to change
                 * @enum {string}
                 */
                kind: "action" | "account" | "duration_seconds" | "has_reason" | "via" | "minute" | "weekday" | "now" | "source_ip" | "break_glass" | "tag" | "name" | "principal" | "resource" | "condition";
                /** @description what the rule wants, in words */
                wanted: string;
                /** @description what the request has instead, in words */
                given: string;
                /** @description for that kind: the nearest duration that meets the rule */
                duration_seconds?: number;
                /** @description for that kind: the action that may have been meant */
                action?: string;
            };
            /** Format: uuid */
            rule_id?: string;
            /** @description the policy of the rule; like `rule_id` only with policies:read */
            policy_name?: string;
            /** @description the condition as the rule states it; only with policies:read */
            condition?: string;
        };
        NewRecoveryCodes: {
            /** @description each signs in once in place of the second factor; they are shown only here */
            recovery_codes: string[];
        };
        Notification: {
            /** Format: uuid */
            id: string;
            event_type: string;
            /** @description plain text, never markup */
            body: string;
            /** @description access_request, access_grant, notification_channel, identity_provider or user */
            resource_type?: string;
            /** Format: uuid */
            resource_id?: string;
            /** Format: date-time */
            read_at?: string;
            /** Format: date-time */
            created_at: string;
            /** @description plain text, never markup */
            title: string;
        };
        NotificationChannel: components["schemas"]["EmailChannel"] | components["schemas"]["WebhookChannel"];
        NotificationPreferences: {
            kinds: {
                /** @description a request waits for your decision; mailed by default */
                decision_needed: {
                    mail: boolean;
                };
                /** @description a user took access in an emergency, without an approver; mailed by default */
                emergency: {
                    mail: boolean;
                };
                /** @description your request was approved or denied, has expired, or was cancelled; mailed by default */
                request_decided: {
                    mail: boolean;
                };
                /** @description a comment on your request, or by its requester on a request that you may decide; mailed by default */
                comment: {
                    mail: boolean;
                };
                /** @description your access has begun, and how to connect; mailed by default */
                access_active: {
                    mail: boolean;
                };
                /** @description your access ends soon; mailed by default */
                access_ending: {
                    mail: boolean;
                };
                /** @description your access was ended before its time; mailed by default */
                access_revoked: {
                    mail: boolean;
                };
                /** @description your access has ended on time; not mailed by default */
                access_ended: {
                    mail: boolean;
                };
                /** @description your access could not be given or taken away, or was changed at its target by hand; mailed by default */
                access_failed: {
                    mail: boolean;
                };
                /** @description something that you administer needs you; mailed by default */
                administration: {
                    mail: boolean;
                };
                /** @description a refresh token of yours was used twice, or a user of your tenant was suspended; mailed by default */
                security: {
                    mail: boolean;
                };
            };
            /** @description cannot be changed here */
            mail: {
                /** @description where the mails go: your own address */
                address: string;
                /**
                 * @description why nothing is mailed to you now: the service has no mail server, the address is not verified, or it is one that no mail reaches
                 * @enum {string}
                 */
                obstacle?: "no_mail_server" | "address_not_verified" | "unreachable_address";
            };
        };
        Orphan: {
            /** Format: uuid */
            id: string;
            /**
             * @description `ours`: this installation gave it, as its mark proves, before a restore or a failover lost the grant; `unproven`: it has a mark of this tenant that does not prove that; `foreign_set`: by a permission set that Sallyport did not make, which carries no mark
             * @enum {string}
             */
            origin: "ours" | "unproven" | "foreign_set";
            /**
             * @description `listed`: a person decides, at the target; `second_look`: it is ended if a later sweep sees it again; `held_back`: a sweep found more than it ends by itself, so a person ends each; `ending`: it is being ended
             * @enum {string}
             */
            status: "listed" | "second_look" | "held_back" | "ending";
            /** @description its identity at the target */
            target_key: string;
            target: {
                [key: string]: unknown;
            };
            /** @description with `ours`: the grant that it was given for, which is lost; null where the target does not say */
            grant_id: string | null;
            /** @description with `ours`: when it was given or before, in seconds since 1970 */
            epoch: number | null;
            /** @description with `foreign_set`: the set has the tag `sallyport:exclusive`, so nobody else should assign it; these come first */
            exclusive: boolean;
            /** Format: date-time */
            first_seen_at: string;
            /** Format: date-time */
            listed_at: string;
        };
        OwnProfile: {
            /** Format: uuid */
            id: string;
            email: string;
            name: string;
            /** @enum {string} */
            auth_provider: "local" | "oidc" | "saml";
            first_name: string | null;
            last_name: string | null;
            display_name: string | null;
            avatar_base64: string | null;
        };
        OwnUser: {
            /** Format: uuid */
            id: string;
            email: string;
            name: string;
            /** @description left out where it is not known */
            department?: string;
            /** @description left out where none is known */
            manager?: {
                /** Format: uuid */
                id: string;
                name: string;
            };
            tenant: {
                /** Format: uuid */
                id: string;
                name: string;
                /** @description a short name that the operator gave the tenant; null: none */
                slug: string | null;
                /** @enum {string} */
                mode: "rehearsal" | "live";
            };
            is_owner: boolean;
            /** @description at most 200, by name: with 200 there may be more */
            roles: {
                id: string;
                name: string;
                /** @description false: only by a group */
                own: boolean;
            }[];
            /** @description at most 200, by name: with 200 there may be more */
            groups: {
                /** Format: uuid */
                id: string;
                name: string;
            }[];
            /** @description what this sign-in may do, by all roles, also those not listed */
            scopes: string[];
            preferences: components["schemas"]["EffectivePreferences"];
            limits: components["schemas"]["RequestLimits"];
            /** @description 100: so many, or more */
            unread_notifications: number;
            sign_in: components["schemas"]["CurrentSignIn"];
            /** @description the job title; left out where it is not known */
            title?: string;
        };
        PermissionGroup: {
            resource: string;
            scopes: components["schemas"]["PermissionScope"][];
        };
        PermissionScope: {
            scope: string;
            resource: string;
            action: string;
            name: string;
            description?: string;
        };
        Place: {
            /** @enum {string} */
            type: "cloud_account" | "cloud_permission_set" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance" | "cloud_organizational_unit";
            id: string;
            /** @description the account that contains the resource, where it is known */
            account_id?: string;
            /** @description the permission set to assign on the account, where one was requested */
            permission_set?: string;
        };
        Policy: {
            /** Format: uuid */
            id: string;
            /** @description For people; need not be unique. */
            name: string;
            description: string;
            /** @description The rules of a disabled policy decide nothing. */
            enabled: boolean;
            priority: number;
            rules: {
                /** Format: uuid */
                id: string;
                /** Format: uuid */
                policy_id: string;
                /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                ordinal: number;
                /** @enum {unknown} */
                effect: "permit" | "forbid";
                /** @enum {unknown} */
                principal_scope_type: "any" | "eq" | "in" | "is" | "is_in";
                /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                principal_entity_type?: string;
                /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                principal_entity_id?: string;
                /** @enum {unknown} */
                action_scope_type: "any" | "eq" | "in";
                /** @description One action for `eq`, one or more for `in`. */
                action_ids: string[];
                /** @enum {unknown} */
                resource_scope_type: "any" | "eq" | "in" | "is" | "is_in";
                /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                resource_entity_type?: string;
                /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                resource_entity_id?: string;
                conditions?: string;
                policy_text: string;
                /** @description The text that people read when the rule decides. */
                notice?: string;
                audit_session: boolean;
                /**
                 * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                 * @enum {unknown}
                 */
                approval_mode?: "require" | "auto" | "break_glass";
                /** Format: date-time */
                created_at: string;
                /** Format: date-time */
                updated_at: string;
                /** @description Effects of the rule that its author may not have intended. */
                warnings?: string[];
            }[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        PolicyCase: {
            /** @description the name of the case, a sentence; no other of the tenant has it */
            case: string;
            /** @description a change of the rules that would break the case is refused; false when absent */
            required?: boolean;
            who?: {
                /** @description the id as in rules: `User::"<id>"`; `somebody` when absent */
                id?: string;
                email?: string;
                /** @description false when absent, as for a local user */
                email_verified?: boolean;
                name?: string;
                /** @description true when absent */
                active?: boolean;
                /** @description `local` when absent */
                auth_provider?: string;
                is_owner?: boolean;
                /** @description not known when absent */
                department?: string;
                /** @description the id of the manager, as in rules; not known when absent */
                manager?: string;
                /** @description ids of groups, as in rules */
                groups?: string[];
                /** @description ids of roles, own and by group: `approver`, or the uuid of a role of your own */
                roles?: string[];
                /** @description when absent: `requests:create` for a requester, `requests:approve` for an approver */
                scopes?: string[];
                /** @description not known when absent */
                title?: string;
            };
            /** @description the requested action */
            asks?: string;
            /** @description the action of the request to decide */
            approves?: string;
            requester?: {
                /** @description the id as in rules: `User::"<id>"`; `somebody` when absent */
                id?: string;
                email?: string;
                /** @description false when absent, as for a local user */
                email_verified?: boolean;
                name?: string;
                /** @description true when absent */
                active?: boolean;
                /** @description `local` when absent */
                auth_provider?: string;
                is_owner?: boolean;
                /** @description not known when absent */
                department?: string;
                /** @description the id of the manager, as in rules; not known when absent */
                manager?: string;
                /** @description ids of groups, as in rules */
                groups?: string[];
                /** @description ids of roles, own and by group: `approver`, or the uuid of a role of your own */
                roles?: string[];
                /** @description when absent: `requests:create` for a requester, `requests:approve` for an approver */
                scopes?: string[];
                /** @description not known when absent */
                title?: string;
            };
            resource: {
                /** @enum {string} */
                type: "cloud_account" | "cloud_permission_set" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance" | "cloud_organizational_unit";
                /** @description the format depends on the type */
                id: string;
                name?: string;
                tags?: {
                    [key: string]: string;
                };
                /** @description all its ancestors, as `cloud_organizational_unit::ou-ab12-12345678` */
                in?: string[];
            };
            /** @description further places where access would be given */
            touches?: {
                /** @enum {string} */
                type: "cloud_account" | "cloud_permission_set" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance" | "cloud_organizational_unit";
                /** @description the format depends on the type */
                id: string;
                name?: string;
                tags?: {
                    [key: string]: string;
                };
                /** @description all its ancestors, as `cloud_organizational_unit::ou-ab12-12345678` */
                in?: string[];
            }[];
            context?: {
                /** @description 3600 when absent */
                duration_seconds?: number;
                /** @description true when absent */
                has_reason?: boolean;
                break_glass?: boolean;
                /**
                 * Format: date-time
                 * @description a Wednesday at noon when absent
                 */
                now?: string;
                /** @description the time zone for weekday and minute; `UTC` when absent */
                time_zone?: string;
                /** @enum {string} */
                via?: "token" | "api_key";
                /** @description `192.0.2.1` when absent */
                source_ip?: string;
            };
            /** @enum {string} */
            expect: "permit" | "forbid";
            /**
             * @description the approval mode of a permitted request
             * @enum {string}
             */
            mode?: "require" | "auto" | "break_glass";
            audit_session?: boolean;
            /** @description a text that one of the notices must contain */
            notice?: string;
            /** @description rules that must be among the deciding rules */
            rule_ids?: string[];
        };
        PolicyCasesReplaced: {
            cases: components["schemas"]["PolicyCase"][];
            passed: number;
            failed: number;
            outcomes: components["schemas"]["CaseOutcome"][];
        };
        PolicyReplay: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            status: "waiting" | "running" | "done" | "failed";
            days: number;
            /** @description questions evaluated so far */
            asked: number;
            /** @description the number of questions to evaluate; null: not counted yet */
            total: number | null;
            /** Format: uuid */
            created_by: string | null;
            /**
             * Format: date-time
             * @description later questions are not evaluated
             */
            created_at: string;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            finished_at: string | null;
            /** @description why it failed */
            error: {
                code: string;
                message: string;
                details?: {
                    [key: string]: unknown;
                };
            } | null;
            result: {
                /** @description the version of the current rules */
                rule_set_version: string;
                counts: {
                    questions: number;
                    unchanged: number;
                    changed: number;
                    newly_allowed: number;
                    newly_denied: number;
                    /** @description allowed by both; by the draft without a person */
                    loosened: number;
                    /** @description allowed by both; by the draft only after a person’s decision */
                    tightened: number;
                    /** @description allowed by both; by the draft with session auditing */
                    audit_added: number;
                    audit_removed: number;
                    /** @description the engine could not answer by one of the two rule sets */
                    undecidable: number;
                };
                rules: {
                    added: number;
                    changed: number;
                    removed: number;
                };
                by_requester: {
                    most: {
                        /** Format: uuid */
                        requester_id: string;
                        changed: number;
                        newly_allowed: number;
                        newly_denied: number;
                        /** @description allowed by both; by the draft without a person */
                        loosened: number;
                        /** @description allowed by both; by the draft only after a person’s decision */
                        tightened: number;
                        /** @description allowed by both; by the draft with session auditing */
                        audit_added: number;
                        audit_removed: number;
                    }[];
                    more: number;
                };
                by_resource: {
                    most: {
                        resource: components["schemas"]["ResourceReference"];
                        changed: number;
                        newly_allowed: number;
                        newly_denied: number;
                        /** @description allowed by both; by the draft without a person */
                        loosened: number;
                        /** @description allowed by both; by the draft only after a person’s decision */
                        tightened: number;
                        /** @description allowed by both; by the draft with session auditing */
                        audit_added: number;
                        audit_removed: number;
                    }[];
                    more: number;
                };
                by_rule: {
                    most: {
                        /**
                         * Format: uuid
                         * @description for a rule that the draft adds: an id valid only in this replay
                         */
                        id: string;
                        /** @enum {string} */
                        change: "added" | "changed" | "removed";
                        /** @description the place of the rule in the body of the replay */
                        pointer: string | null;
                        changed: number;
                        newly_allowed: number;
                        newly_denied: number;
                        /** @description allowed by both; by the draft without a person */
                        loosened: number;
                        /** @description allowed by both; by the draft only after a person’s decision */
                        tightened: number;
                        /** @description allowed by both; by the draft with session auditing */
                        audit_added: number;
                        audit_removed: number;
                    }[];
                    more: number;
                };
                /** @description the latest first, at most 200 */
                changed: {
                    /**
                     * Format: uuid
                     * @description the past decision that answered the question
                     */
                    decision_id: string;
                    /**
                     * Format: uuid
                     * @description null: the request was refused and not stored
                     */
                    request_id: string | null;
                    /**
                     * @description ask: may the user request this; approve: may this person decide the request
                     * @enum {string}
                     */
                    kind: "ask" | "approve";
                    /** Format: date-time */
                    decided_at: string;
                    /** Format: uuid */
                    requester_id: string;
                    /** Format: uuid */
                    approver_id: string | null;
                    resource: components["schemas"]["ResourceReference"];
                    action: string;
                    duration_seconds: number;
                    break_glass: boolean;
                    differences: ("newly_allowed" | "newly_denied" | "loosened" | "tightened" | "audit_added" | "audit_removed")[];
                    before: {
                        allowed: boolean;
                        /** @enum {string|null} */
                        approval_mode: "require" | "auto" | "break_glass" | null;
                        audit_session: boolean;
                        /** Format: uuid */
                        governing_rule_id: string | null;
                        /** @description the rules that decided, in order, at most 20 */
                        rule_ids: string[];
                        /** @description at most 500 characters */
                        reasoning: string;
                    };
                    after: {
                        allowed: boolean;
                        /** @enum {string|null} */
                        approval_mode: "require" | "auto" | "break_glass" | null;
                        audit_session: boolean;
                        /** Format: uuid */
                        governing_rule_id: string | null;
                        /** @description the rules that decided, in order, at most 20 */
                        rule_ids: string[];
                        /** @description at most 500 characters */
                        reasoning: string;
                    };
                }[];
                /** @description who may decide each request that a question was about, open or past; null: the draft changes no rule that names `approve`; absent in results of earlier versions */
                approvers?: {
                    /** @description requests examined, the latest first */
                    requests: number;
                    /** @description requests to examine, at most 10,000; where fewer were examined, they have more possible approvers than a replay evaluates */
                    total: number;
                    /** @description requests whose approvers the draft changes */
                    changed: number;
                    /** @description approvers that requests gain, summed over the requests */
                    added: number;
                    /** @description approvers that requests lose, summed over the requests */
                    removed: number;
                    /** @description requests that nobody may decide any more */
                    nobody_left: number;
                    /** @description approvers about whom the engine could not answer by one of the two rule sets, summed over the requests */
                    undecidable: number;
                    /** @description the latest request first, at most 200 */
                    by_request: {
                        /** Format: uuid */
                        request_id: string;
                        /**
                         * @description the current status of the request
                         * @enum {string}
                         */
                        status: "pending" | "approved" | "denied" | "expired" | "cancelled";
                        /** Format: date-time */
                        created_at: string;
                        /** Format: uuid */
                        requester_id: string;
                        resource: components["schemas"]["ResourceReference"];
                        action: string;
                        added: {
                            /** @description at most 20 */
                            users: string[];
                            /** @description how many further users */
                            more: number;
                        };
                        removed: {
                            /** @description at most 20 */
                            users: string[];
                            /** @description how many further users */
                            more: number;
                        };
                        /** @description somebody may decide the request now, and nobody by the draft */
                        nobody_left: boolean;
                    }[];
                } | null;
            } | null;
        };
        Preferences: {
            /** @description a language tag as in BCP 47; null: the tenant’s */
            locale: string | null;
            /** @description an IANA name; null: what the client itself detects */
            timezone: string | null;
            /**
             * @description null: the locale’s format
             * @enum {string|null}
             */
            date_format: "YYYY-MM-DD" | "MM/DD/YYYY" | "DD/MM/YYYY" | null;
            /**
             * @description null: the locale’s format
             * @enum {string|null}
             */
            time_format: "12h" | "24h" | null;
        };
        Preflight: {
            counts: {
                /** @description how many were asked about */
                people: number;
                /** @description users of this directory already */
                known: number;
                /** @description would be new users */
                added: number;
                /** @description would be the user here who was made for the directory */
                adopted: number;
                /** @description a person would have to say who they are */
                to_settle: number;
                /** @description a person has kept them apart */
                left_out: number;
                /** @description cannot be made */
                refused: number;
            };
            /** @description the first 10 targets that have a directory of their own, such as Identity Center, and whose people were read; none for a caller without `provisioners:read` */
            targets: {
                /** Format: uuid */
                provisioner_id: string;
                name: string;
                /** @description how many of those who would be users the target does not have */
                not_found: number;
            }[];
            /** @description in the order in which they were sent */
            people: components["schemas"]["MatchedPerson"][];
        };
        Provisioner: {
            /** Format: uuid */
            id: string;
            name: string;
            /**
             * @description never changes
             * @enum {string}
             */
            provisioner_type: "sandbox" | "postgresql" | "webhook" | "aws-identity-center";
            /**
             * @description of the tenant. In rehearsal, what no provisioner serves is simulated; in a live tenant nothing is
             * @enum {string}
             */
            mode: "rehearsal" | "live";
            config: {
                [key: string]: unknown;
            };
            /** @description no account and no id twice for a type; at most 1,000 of both in all */
            serves: {
                /**
                 * @description permission sets and organizational units are given on accounts: `cloud_account` serves them
                 * @enum {string}
                 */
                resource_type: "cloud_account" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance";
                /** @description the accounts in which it serves the type; when absent, every account that no other line names */
                account_ids?: string[];
                /** @description in place of `account_ids`: the ids that it serves, whatever serves their account. `*` stands for any characters; of several that match an id, the one without `*` counts, and else the one with the most other characters */
                resource_ids?: string[];
            }[];
            enabled: boolean;
            corrects_drift: boolean;
            /** @description increases by one at each change */
            version: number;
            /**
             * Format: date-time
             * @description until when the secrets from before the last rotation are valid beside the new ones
             */
            previous_secrets_until: string | null;
            claim?: components["schemas"]["TargetClaim"];
            /** @description absent where there are none */
            warnings?: components["schemas"]["ProvisionerWarning"][];
            /** @description the last test; null when there was none since the last change of the config */
            health: {
                /** Format: date-time */
                checked_at: string;
                /** @description whether every check is ok */
                ok: boolean;
                checks: {
                    what: string;
                    ok: boolean;
                    /** @description how to fix it, or a note */
                    message: string | null;
                }[];
            } | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        ProvisionerSetUp: {
            /** @description as which the target knows the service; null when it has no identity there */
            identity: string | null;
            /** @description why there is nothing to apply, and how to fix it */
            note: string | null;
            /** @description each makes all that is needed; apply one of them */
            snippets: components["schemas"]["Snippet"][];
        };
        ProvisionerTestResult: {
            /** Format: date-time */
            checked_at: string;
            /** @description whether every check is ok */
            ok: boolean;
            checks: {
                what: string;
                ok: boolean;
                /** @description how to fix it, or a note */
                message: string | null;
            }[];
            /**
             * @description of the tenant. In rehearsal, what no provisioner serves is simulated; in a live tenant nothing is
             * @enum {string}
             */
            mode: "rehearsal" | "live";
        };
        ProvisionerWarning: {
            /**
             * @description `serves_nothing`: `serves` is empty, so it gives no access; `simulates_in_live`: it is a sandbox, whose access is simulated, in a live tenant, where it gives none
             * @enum {string}
             */
            code: "serves_nothing" | "simulates_in_live";
            /** @description the warning, as a sentence */
            message: string;
        };
        ProvisionerWithSecrets: {
            /** Format: uuid */
            id: string;
            name: string;
            /**
             * @description never changes
             * @enum {string}
             */
            provisioner_type: "sandbox" | "postgresql" | "webhook" | "aws-identity-center";
            /**
             * @description of the tenant. In rehearsal, what no provisioner serves is simulated; in a live tenant nothing is
             * @enum {string}
             */
            mode: "rehearsal" | "live";
            config: {
                [key: string]: unknown;
            };
            /** @description no account and no id twice for a type; at most 1,000 of both in all */
            serves: {
                /**
                 * @description permission sets and organizational units are given on accounts: `cloud_account` serves them
                 * @enum {string}
                 */
                resource_type: "cloud_account" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance";
                /** @description the accounts in which it serves the type; when absent, every account that no other line names */
                account_ids?: string[];
                /** @description in place of `account_ids`: the ids that it serves, whatever serves their account. `*` stands for any characters; of several that match an id, the one without `*` counts, and else the one with the most other characters */
                resource_ids?: string[];
            }[];
            enabled: boolean;
            corrects_drift: boolean;
            /** @description increases by one at each change */
            version: number;
            /**
             * Format: date-time
             * @description until when the secrets from before the last rotation are valid beside the new ones
             */
            previous_secrets_until: string | null;
            claim?: components["schemas"]["TargetClaim"];
            /** @description absent where there are none */
            warnings?: components["schemas"]["ProvisionerWarning"][];
            /** @description the last test; null when there was none since the last change of the config */
            health: {
                /** Format: date-time */
                checked_at: string;
                /** @description whether every check is ok */
                ok: boolean;
                checks: {
                    what: string;
                    ok: boolean;
                    /** @description how to fix it, or a note */
                    message: string | null;
                }[];
            } | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            set_up?: components["schemas"]["ProvisionerSetUp"];
            /** @description secrets generated for the target, by field: shown only now */
            shown_once: {
                [key: string]: string;
            };
        };
        Provisioning: {
            /** @description null until the target is known; without an id: the sandbox, which gives access to nothing */
            provisioner: {
                /** Format: uuid */
                id: string | null;
                type: string;
                name: string | null;
            } | null;
            /**
             * @description `planning`: Sallyport asks the target what the grant means there; `waiting`: the grant waits to be processed; `giving`: the access is being given; `held`: the access is at the target, as of the last check; `taking_away`: the access is being revoked; `gone`: the access is no longer at the target, or only another grant holds it; `not_given`: the grant ended before its access was given; `left`: the access was there before the grant, and stays; `drifted`: the access was changed at the target by hand
             * @enum {string}
             */
            step: "planning" | "waiting" | "giving" | "held" | "taking_away" | "gone" | "not_given" | "left" | "drifted";
            /** Format: date-time */
            since: string;
            /** @description the target’s own id of the last request to it */
            target_request_id: string | null;
            /** @description how often the step has failed so far; Sallyport retries it */
            failures: number;
            /** @description the last error message of the target; or why the step waits, which counts as no failure, such as that AWS throttles the calls */
            last_error: string | null;
            /** @description `removed`: by hand while the grant held it; `added`: by hand after it was gone */
            drift: {
                /** @enum {string} */
                kind: "removed" | "added";
                /** Format: date-time */
                since: string;
            } | null;
        };
        /** @description what the requester asked for in the 30 days before this request, of their last 500 requests; for those who may decide */
        RecentRequests: {
            /** @description for the same resource and action, extensions included, neither cancelled ones nor this one; 100: so many, or more */
            same_requests: number;
            /** @description how many of them were denied */
            denied: number;
            /** @description the median of the durations that were approved of them (of two in the middle, the shorter), without extensions; null: none was approved */
            usual_duration_seconds: number | null;
        };
        RecordCount: {
            count: number;
            /** @description whether these are all: false where there are more than 100, and where the reading ended early, as a page may */
            is_complete: boolean;
        };
        RecordHint: {
            /** @enum {string} */
            type: "request" | "grant" | "policy" | "policy_case" | "action" | "role" | "user" | "group" | "api_key" | "setting" | "cloud_account" | "notification_channel" | "identity_provider" | "provisioner";
            /** @description null: several records of the type may have changed */
            id: string | null;
        };
        RefreshedSession: {
            /** @description a JWT, to send as `Authorization: Bearer` */
            token: string;
            /** Format: date-time */
            expires_at: string;
            /** @description to send to `POST /v1/auth/refresh`, once, when the token expires; keep it secret */
            refresh_token: string;
            /**
             * Format: date-time
             * @description the end of the session: sign in again then
             */
            ends_at: string;
        };
        Rehearsal: {
            /** @enum {string} */
            mode: "rehearsal" | "live";
            /** Format: date-time */
            live_since: string | null;
            /** @description colleagues that nobody is, for whom an owner gets tokens */
            people: {
                /** Format: uuid */
                id: string;
                name: string;
                active: boolean;
                roles: string[];
            }[];
            accounts: {
                /** @description the account number; no such account exists */
                id: string;
                name: string;
            }[];
            /**
             * Format: uuid
             * @description its rules are for these accounts alone
             */
            policy_id: string | null;
        };
        Reminded: {
            /** Format: date-time */
            reminded_at: string;
            /**
             * Format: date-time
             * @description you may remind them again from then on
             */
            next_at: string;
        };
        RequestComment: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            request_id: string;
            /** @description the user who wrote it, or who made the API key that did */
            author_id: string;
            /** @description their current name, also of a user who was deleted */
            author_name: string;
            /** @description plain text of one or more lines, as it was written */
            text: string;
            /** Format: date-time */
            created_at: string;
        };
        RequestDecision: {
            /** Format: uuid */
            id: string;
            /**
             * @description ask: may the user request this; approve: may this person decide the request, also where a try was refused (the first by one version of the rules); ask_again: is access still permitted
             * @enum {string}
             */
            kind: "ask" | "approve" | "ask_again";
            /** Format: date-time */
            decided_at: string;
            /** @description the user whom the question was about */
            principal_id: string;
            allowed: boolean;
            /** @enum {string|null} */
            approval_mode: "require" | "auto" | "break_glass" | null;
            /** @description null: the decision is older than the storing of this text */
            reasoning: string | null;
            notices: string[];
            /** @description the version of the tenant’s rules; each change increments it */
            rule_set_version: number;
            /** @description the rules that decided, in order, at most 100; more fields of each with policies:read */
            rules: {
                /** Format: uuid */
                id: string;
                /** @description null: the rule was deleted */
                policy_name?: string | null;
                /** @description the rule’s current notice */
                notice?: string | null;
                /** @description the rule was saved, moved or deleted since */
                changed_since?: boolean;
            }[];
            /** @description rules that could not be evaluated; only with policies:read */
            errors?: {
                /** Format: uuid */
                rule_id: string | null;
                message: string;
            }[];
            question: {
                resource: components["schemas"]["ResourceReference"];
                action: string;
                places: components["schemas"]["Place"][];
                duration_seconds: number;
                has_reason: boolean;
                break_glass: boolean;
                /** Format: date-time */
                now: string;
                /** @enum {string} */
                via?: "token" | "api_key";
                /** @description shown, like `via`, to the user whom the question was about, and with audit:read */
                source_ip?: string;
            };
        };
        RequestLimits: {
            /** @description whether every request must give a reason */
            require_reason: boolean;
            /** @description how long access lasts when a request names no duration */
            default_duration_seconds: number;
            max_duration_seconds: number;
            /** @description how long a request waits for a decision before it expires */
            pending_ttl_seconds: number;
            /** @description pending requests of one user */
            max_pending_requests: number;
        };
        RequestPreview: {
            /** @description false: the request would be refused with these notices */
            allowed: boolean;
            /**
             * @description require: a person decides; auto and break_glass: approved at once
             * @enum {string|null}
             */
            approval_mode: "require" | "auto" | "break_glass" | null;
            audit_session: boolean;
            notices: string[];
            /** @description why, in words; names rules only with policies:read */
            reasoning: string;
            /** @description how long access would last */
            duration_seconds: number;
            /** @description the longest duration that would be allowed, not shorter than yours; null where there is none */
            max_duration_seconds: number | null;
            /** @enum {string} */
            risk: "high" | "normal";
            /** @description why the risk is high. break_glass: an emergency; administrator: the permission set AdministratorAccess, PowerUserAccess or IAMFullAccess; sensitive_account: an account with the tag `sensitivity=high` */
            risk_reasons: ("break_glass" | "administrator" | "sensitive_account")[];
            /** @description where access would be given, one grant each; empty where the request would be refused */
            places: components["schemas"]["Place"][];
            /** @description the rules that decided, in order; only with policies:read */
            rule_ids?: string[];
            may_decide?: components["schemas"]["Deciders"];
            live_grant: components["schemas"]["LiveGrant"];
            /** @description the warnings that the request would get; absent where there are none */
            warnings?: components["schemas"]["RequestWarning"][];
            /** @description near misses: what would have to change for a better answer, one change each, or two where one is not enough; absent where none is known */
            nearest?: components["schemas"]["NearestMiss"][];
        };
        RequestWarning: {
            /**
             * @description nobody_may_approve: by the current rules and roles no user may approve it; creating the request notifies the administrators
             * @enum {string}
             */
            code: "nobody_may_approve";
            /** @description the warning, as a sentence */
            message: string;
        };
        ResourceReference: {
            /** @enum {string} */
            type: "cloud_account" | "cloud_permission_set" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance" | "cloud_organizational_unit";
            /** @description the format depends on the type. `cloud_account`: an account number of 12 digits; `cloud_permission_set`: the fully qualified name of a permission set, such as `arn:aws:sso:::permissionSet/ssoins-…/ps-…`; `cloud_storage_bucket`: a bucket name: 3 to 63 lower-case letters, digits, dots and hyphens; `cloud_db_instance`: the fully qualified name of a database instance, such as `arn:aws:rds:REGION:ACCOUNT:db:NAME`; `cloud_compute_instance`: an instance id: `i-` and letters or digits; `cloud_organizational_unit`: a unit id: `ou-`, four characters, `-`, eight characters */
            id: string;
        };
        Role: {
            /** @description a name such as `admin` for system roles, a uuid for custom roles */
            id: string;
            name: string;
            description: string;
            scopes: string[];
            /** @description every tenant has it, and it cannot be changed */
            system: boolean;
            /** @description goes up with each change; in quotes it is the `ETag` */
            version: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            blast_radius: components["schemas"]["BlastRadius"];
        };
        RoleHolder: {
            /** Format: uuid */
            user_id: string;
            user_name: string;
            /**
             * Format: uuid
             * @description null where the user has the role themselves
             */
            group_id: string | null;
            /** @description null without a group, and for callers without `groups:read` */
            group_name: string | null;
        };
        SavedEmailChannel: {
            /** Format: uuid */
            id: string;
            name: string;
            event_filters: string[];
            enabled: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /**
             * @description never changes
             * @enum {string}
             */
            channel_type: "email";
            config: {
                to_addresses: string[];
                from_address?: string;
                subject_prefix?: string;
            };
            /** @description absent where there are none */
            warnings?: components["schemas"]["SenderWarning"][];
        };
        SavedNotificationChannel: components["schemas"]["SavedEmailChannel"] | components["schemas"]["WebhookChannel"];
        SecondFactor: {
            /** Format: uuid */
            id: string;
            /**
             * @description `totp`: an app with codes of six digits; `passkey`: a key of a device
             * @enum {string}
             */
            kind: "totp" | "passkey";
            name: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            last_used_at: string | null;
        };
        SecondFactors: {
            data: components["schemas"]["SecondFactor"][];
            /** @constant */
            has_more: false;
            recovery_codes_left: number;
        };
        SenderWarning: {
            /**
             * @description mails come from the sender of this service, and replies go to the address that the channel names
             * @enum {string}
             */
            code: "sender_not_allowed";
            /** @description the warning, as a sentence */
            message: string;
        };
        Session: {
            /**
             * Format: uuid
             * @description the claim `sid` of the session’s tokens
             */
            id: string;
            /** @description whether a browser holds the session, by its cookie */
            browser: boolean;
            /** @description whether a program holds the session, by its refresh token */
            program: boolean;
            /** @description whether it is the session of this call */
            current: boolean;
            /** @description how the user proved who they are, as in RFC 8176; empty: nobody did, it is a token of the rehearsal */
            amr: string[];
            /**
             * Format: date-time
             * @description when they did; at a provider perhaps before `created_at`
             */
            auth_time: string;
            /** @description the address that signed in */
            source_ip: string;
            /** @description the program that signed in, as it describes itself */
            user_agent: string | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description to the minute
             */
            last_used_at: string;
            /**
             * Format: date-time
             * @description when it ends at the latest
             */
            ends_at: string;
            /** @description how long it may go unused, in seconds; null: it ends at `ends_at`, used or not */
            idle_seconds: number | null;
        };
        /** @description present for a grant whose sessions are to be audited, once it was active */
        SessionRecord: {
            /** @description the name of the sessions in the target’s own log, with `…*` if the name continues: in AWS, the role in CloudTrail’s `sessionIssuer`; null: the target keeps no such log, or the name is not known */
            recorded_as: string | null;
            /** Format: date-time */
            from: string;
            /**
             * Format: date-time
             * @description no action is later than this; null: the access is still being revoked, or the lifetime of sessions is not known
             */
            until: string | null;
        };
        Setting: {
            key: string;
            value: string;
            /** Format: date-time */
            updated_at?: string;
        };
        SettledConflict: {
            /** Format: uuid */
            user_id: string | null;
        };
        SetupLink: {
            tenant: {
                /** Format: uuid */
                id: string;
                name: string;
            };
            /** Format: date-time */
            expires_at: string;
            /** @description characters that the owner’s password needs at least */
            password_min_length: number;
        };
        SignInSetting: {
            /**
             * Format: uuid
             * @description of the provider; it stays when the settings change
             */
            id: string | null;
            enabled: boolean;
            issuer: string | null;
            client_id: string | null;
            /** @description `[redacted]`, or null when there is none */
            client_secret: string | null;
            redirect_uris: string[];
            scopes: string[];
            /**
             * @description whose word makes an address verified
             * @enum {string}
             */
            email_trust: "claim" | "always" | "never";
            /**
             * @description the claim that identifies a person
             * @enum {string}
             */
            subject_claim: "sub" | "oid";
            /** @description the claim whose values give groups; null: none */
            groups_claim: string | null;
            group_mappings: components["schemas"]["GroupMapping"][];
            /**
             * Format: uuid
             * @description the directory whose users sign in by the provider; null: none
             */
            identity_provider_id: string | null;
            /** Format: date-time */
            updated_at?: string;
        };
        SignedIn: {
            /** @description a JWT, to send as `Authorization: Bearer` */
            token: string;
            /** Format: date-time */
            expires_at: string;
        };
        SignedOut: {
            /** @description where to send the browser to sign out of the identity provider too; null: nowhere */
            provider_logout_url: string | null;
        };
        Snippet: {
            /** @enum {string} */
            kind: "cloudformation" | "terraform";
            /** @description the name under which `apply` expects it */
            file_name: string;
            /** @description the whole file */
            text: string;
            /** @description the command that applies the file, word by word */
            apply: string[];
        };
        StandingAccess: {
            account: {
                id: string;
                name: string;
            };
            permission_set: {
                id: string;
                name: string;
                /** @description whether the set makes an administrator; null: not known yet */
                is_administrator: boolean | null;
            };
            holder: {
                /**
                 * @description `group`: a group of which the directory shows no member
                 * @enum {string}
                 */
                type: "person" | "group";
                id: string;
                name: string;
                /** @description the user name in the directory; null: the directory does not know them */
                login: string | null;
            };
            /** @description the group that gives it to the person; null: directly */
            via_group: {
                id: string;
                name: string;
            } | null;
            /**
             * Format: uuid
             * @description the user whom the target takes for this person
             */
            user_id: string | null;
            /**
             * Format: uuid
             * @description the live grant that gives it; null: it is there without Sallyport
             */
            grant_id: string | null;
        };
        StandingAccessLine: {
            account_id: string;
            account: string;
            permission_set: string;
            administrator: string;
            holder_type: string;
            holder: string;
            login: string;
            via_group: string;
            user_id: string;
            grant_id: string;
        };
        StartedSession: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            ends_at: string;
            /** @description it ends earlier when it is not used for so long */
            idle_seconds: number;
        };
        SyncChange: {
            /** @enum {string} */
            kind: "user" | "group";
            /** @description the id in the directory */
            source_id: string;
            /** @description null for a group */
            user_name: string | null;
            name: string | null;
            email: string | null;
            /**
             * Format: uuid
             * @description the user or the group here
             */
            id: string | null;
            /**
             * @description `add`: made. `adopt`: an account made for the sign-in provider, managed by the directory from then on. `change`: a change of what the directory says. `enable`: active again. `disable`: disabled in the directory. `absent`: no longer in the directory, and deactivated. `settle`: another user has the address, a conflict of the provider. `left_out`: disabled there and no user here, or kept apart by a person. `empty`: a group loses its members. `invalid`: the directory’s data cannot be used
             * @enum {string}
             */
            change: "add" | "adopt" | "change" | "enable" | "disable" | "absent" | "settle" | "left_out" | "invalid" | "empty";
            /**
             * @description `refused`: `message` says why; `none`: nothing is done
             * @enum {string}
             */
            outcome: "planned" | "done" | "refused" | "none";
            /** @description why it was not done */
            message: string | null;
        };
        /** @description of a dry run and of a run that was stopped: what would be done */
        SyncCounts: {
            /** @description people whom the directory has */
            people: number;
            /** @description users here who are as the directory says */
            unchanged: number;
            /** @description users made */
            added: number;
            /** @description accounts made for the sign-in provider before, which the directory manages from then on */
            adopted: number;
            /** @description users changed */
            changed: number;
            /** @description users activated again */
            enabled: number;
            /** @description users deactivated: disabled in the directory, or no longer there */
            disabled: number;
            /** @description people whose address another user has: see the conflicts of the provider */
            to_settle: number;
            /** @description people who are disabled there and no users here, or whom a person kept apart */
            left_out: number;
            /** @description people with whom it could not be done */
            failed: number;
            /** @description groups that the directory has */
            groups: number;
            /** @description groups made */
            groups_added: number;
            /** @description groups whose name or members changed */
            groups_changed: number;
            /** @description groups that are no longer there, or have no members there: they lose their members, and keep their roles */
            groups_emptied: number;
            /** @description groups with which it could not be done */
            groups_failed: number;
        } | null;
        SyncEndedAccess: {
            /** @description live grants that were ended */
            grants: number;
            /** @description of these, those whose access is gone at the target */
            gone: number;
            /** @description the longest time from the end of a grant until its access was gone */
            slowest_seconds: number | null;
        };
        SyncProgress: {
            /**
             * @description what is read or written now: everything is read before anything is written; null: not begun, or finished
             * @enum {string|null}
             */
            phase: "reading" | "people" | "groups" | null;
            /** @description people read so far */
            people_read: number;
            /** @description groups read so far */
            groups_read: number;
            /** @description changes written */
            done: number;
            /** @description changes to be written; null: not known yet */
            total: number | null;
        };
        SyncRun: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            identity_provider_id: string;
            /**
             * @description `failed` with `needs_confirmation`: nothing was written; confirm it, or correct the directory
             * @enum {string}
             */
            status: "pending" | "syncing" | "synced" | "failed";
            /** @description nothing is written */
            dry_run: boolean;
            /**
             * Format: uuid
             * @description null: the schedule
             */
            requested_by: string | null;
            /**
             * Format: uuid
             * @description the run whose removals were confirmed
             */
            confirms: string | null;
            progress: components["schemas"]["SyncProgress"];
            counts: components["schemas"]["SyncCounts"];
            /** @description too many users or groups would go: nothing was written, and `confirm_removals_of` lets them go */
            needs_confirmation: boolean;
            /** @description why it failed, and how to fix that */
            error: string | null;
            /**
             * Format: date-time
             * @description when a pending run begins
             */
            due_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            finished_at: string | null;
        };
        SyncRunDetail: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            identity_provider_id: string;
            /**
             * @description `failed` with `needs_confirmation`: nothing was written; confirm it, or correct the directory
             * @enum {string}
             */
            status: "pending" | "syncing" | "synced" | "failed";
            /** @description nothing is written */
            dry_run: boolean;
            /**
             * Format: uuid
             * @description null: the schedule
             */
            requested_by: string | null;
            /**
             * Format: uuid
             * @description the run whose removals were confirmed
             */
            confirms: string | null;
            progress: components["schemas"]["SyncProgress"];
            counts: components["schemas"]["SyncCounts"];
            /** @description too many users or groups would go: nothing was written, and `confirm_removals_of` lets them go */
            needs_confirmation: boolean;
            /** @description why it failed, and how to fix that */
            error: string | null;
            /**
             * Format: date-time
             * @description when a pending run begins
             */
            due_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            finished_at: string | null;
            access: components["schemas"]["SyncEndedAccess"];
        };
        TargetClaim: {
            /**
             * @description `held`: this Sallyport acts there; `contested`: another one does, or another copy of this one, and nothing is done there; `read_only`: its database was restored or moved, and nothing is done at any target until its operator adopts it
             * @enum {string}
             */
            status: "held" | "contested" | "read_only";
            /** Format: date-time */
            since: string;
            /** @description with `contested`: what the target says of the one that acts there */
            holder?: {
                installation: string;
                epoch: number;
                /** Format: date-time */
                seen_at: string;
            };
        };
        UnmatchedUser: {
            /** Format: uuid */
            id: string;
            name: string;
            email: string;
            /** @description the user name that the directory does not have */
            looked_for: string;
            /**
             * @description `other_domain`: the address is not of the one domain whose local parts are user names
             * @enum {string}
             */
            why: "not_in_directory" | "other_domain";
        };
        User: {
            /** Format: uuid */
            id: string;
            email: string;
            name: string;
            roles: string[];
            /** @enum {string} */
            auth_provider: "local" | "oidc" | "saml";
            active: boolean;
            email_verified: boolean;
            is_owner: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description left out where it is not known */
            department?: string;
            /**
             * Format: uuid
             * @description another user; left out where none is known
             */
            manager_id?: string;
            /**
             * Format: uuid
             * @description the directory that manages the user; left out where nobody else does
             */
            identity_provider_id?: string;
            /**
             * Format: date-time
             * @description present while the user is suspended, whatever `active` says
             */
            suspended_until?: string;
            avatar_base64: string | null;
            /** @description the job title; left out where it is not known */
            title?: string;
        };
        UserGroup: {
            /** Format: uuid */
            group_id: string;
            /** @description null for callers without `groups:read` */
            group_name: string | null;
            /**
             * @description where the membership is managed
             * @enum {string}
             */
            membership_source: "local" | "scim" | "identity_provider";
            /** Format: date-time */
            created_at: string;
        };
        WebhookChannel: {
            /** Format: uuid */
            id: string;
            name: string;
            event_filters: string[];
            enabled: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /**
             * @description never changes
             * @enum {string}
             */
            channel_type: "webhook";
            config: {
                url: string;
                /**
                 * @description present when messages have additional headers
                 * @enum {string}
                 */
                headers?: "[redacted]";
            };
            /**
             * Format: date-time
             * @description until when messages also carry the signature of the previous secret
             */
            previous_secret_until: string | null;
        };
        WebhookChannelWithSecret: {
            /** Format: uuid */
            id: string;
            name: string;
            event_filters: string[];
            enabled: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /**
             * @description never changes
             * @enum {string}
             */
            channel_type: "webhook";
            config: {
                url: string;
                /**
                 * @description present when messages have additional headers
                 * @enum {string}
                 */
                headers?: "[redacted]";
            };
            /**
             * Format: date-time
             * @description until when messages also carry the signature of the previous secret
             */
            previous_secret_until: string | null;
            /** @description `whsec_…`, signs every message: shown only now */
            secret: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description the rate limit: `q` requests at once, refilled over `w` seconds */
        "RateLimit-Policy": string;
        /** @description `r` requests remain; the limit is full again in `t` seconds */
        RateLimit: string;
        /** @description seconds to wait before a retry */
        "Retry-After": number;
        /** @description the state of the record, for `If-Match` */
        ETag: string;
        /** @description the path at which the new record is read */
        Location: string;
        /** @description a cookie of the sign-in or the session, where one changes */
        "Set-Cookie": string;
        /** @description present when this is the answer to an earlier call with the same `Idempotency-Key` */
        "Idempotency-Replayed": "true";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "alive";
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ready";
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    discoverTenant: {
        parameters: {
            query?: {
                /** @description the short name that the operator gave the tenant; either this or `domain` */
                slug?: string;
                /** @description a mail domain that the operator gave the tenant, never an address; either this or `slug` */
                domain?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiscoveredTenant"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    email: string;
                    password: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    finishSecondFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description from the answer `second_factor_required`; with it, exactly one of the others */
                    challenge: string;
                    /** @description six digits, as the app shows them now */
                    totp?: string;
                    /** @description what `toJSON()` of the browser’s `PublicKeyCredential` returns */
                    passkey?: {
                        [key: string]: unknown;
                    };
                    recovery_code?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    beginAuthorization: {
        parameters: {
            query: {
                tenant: string;
                /** @description exactly one of the URIs in the sign-in settings */
                redirect_uri: string;
                /** @description in seconds: the provider asks the user to sign in again if the sign-in there is older */
                max_age?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Redirect to `Location`; no body */
            302: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    /** @description the address to go to */
                    Location?: string;
                    "Set-Cookie": components["headers"]["Set-Cookie"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    exchangeAuthorizationCode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "SplxlOBeZQQYbYS6WxSbIA",
                 *       "redirect_uri": "https://access.acme.example/signed-in",
                 *       "state": "af0ifjsldkj",
                 *       "iss": "https://id.acme.example"
                 *     }
                 */
                "application/json": {
                    /** @description the code that the provider returned */
                    code: string;
                    /** @description the one that the sign-in began with */
                    redirect_uri: string;
                    /** @description the state that the provider returned; left out only for a sign-in by the global provider, begun elsewhere */
                    state?: string;
                    /** @description the issuer that the provider returned, if any (RFC 9207); it is checked */
                    iss?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "token": "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJBZGEifQ.c2lnbmF0dXJl",
                     *       "expires_at": "2026-11-27T10:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    startSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Set-Cookie": components["headers"]["Set-Cookie"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedSession"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    issueRefreshToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedRefreshToken"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    refreshSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    refresh_token: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RefreshedSession"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    checkSetupLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description what follows `#k=` in the setup link */
                    key: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetupLink"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    useSetupLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description what follows `#k=` in the setup link */
                    key: string;
                    name: string;
                    /** @description one bare e-mail address, with which the owner signs in */
                    email: string;
                    password: string;
                    /** @description the name of the organization; as it is when absent */
                    tenant_name?: string;
                    /** @description an IANA name; what the client detects when absent */
                    timezone?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    checkInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description what follows `#k=` in the invitation link */
                    key: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationLink"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    useInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description what follows `#k=` in the invitation link */
                    key: string;
                    /** @description required where the link leads to a password, otherwise left out */
                    password?: string;
                    /** @description as the inviter gave it when absent */
                    name?: string;
                    /** @description an IANA name; what the client detects when absent */
                    timezone?: string;
                    /** @description where the link leads to the provider: one of the URIs in the sign-in settings, the first when absent */
                    redirect_uri?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Joined"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Set-Cookie": components["headers"]["Set-Cookie"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedOut"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    receiveLogoutToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the `id` in the sign-in settings, or `global` for the operator’s provider */
                provider: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": {
                    logout_token: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogoutAccepted"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getJwks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Jwks"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listRequests: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description several are separated by commas */
                status?: ("pending" | "approved" | "denied" | "expired" | "cancelled")[];
                /** @description ids of users, or `me` */
                requester_id?: string[];
                /** @description who approved or denied it: ids of users, or `me` */
                decided_by?: string[];
                /** @description several are separated by commas */
                resource_type?: ("cloud_account" | "cloud_permission_set" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance" | "cloud_organizational_unit")[];
                resource_id?: string;
                /** @description whether they were emergencies */
                break_glass?: boolean;
                /** @description `me`: pending requests that you may decide now, those with a high risk first, then the oldest; a page may be short, or empty, though more follow. Without `status`, `decided_by`, `q` and `sort` */
                decidable_by?: "me";
                /** @description created at this moment or later */
                created_after?: string;
                /** @description created before this moment */
                created_before?: string;
                /** @description words, or beginnings of words, that the resource’s id, the action and the reason all have; case and accents do not matter */
                q?: string;
                /** @description `-created_at` where absent; `-` is descending */
                sort?: "created_at" | "-created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["NamedAccessRequest"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createRequest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    resource: components["schemas"]["ResourceReference"];
                    /** @description a permission set’s name, or a verb of your own: one line of visible text, without spaces around it or `__` before it */
                    action: string;
                    /** @description required, as text that one can see, in an emergency and where the setting `requests.require_reason` is true */
                    reason?: string | null;
                    /** @description at most the setting `requests.max_duration_seconds`; absent or null: `requests.default_duration_seconds`, if not longer */
                    duration_seconds?: number | null;
                    /** @description an emergency: needs a reason, and a rule that allows it */
                    break_glass?: boolean;
                    /** @description at most 16 KiB of JSON. `account_id`: the account of the resource, 12 digits, which its id must not contradict. `account_ids`: for a permission set, and required there: the accounts on which it is given, 1 to 50 different ones */
                    metadata?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedRequest"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    previewRequest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    resource: components["schemas"]["ResourceReference"];
                    /** @description a permission set’s name, or a verb of your own: one line of visible text, without spaces around it or `__` before it */
                    action: string;
                    /** @description required, as text that one can see, in an emergency and where the setting `requests.require_reason` is true */
                    reason?: string | null;
                    /** @description at most the setting `requests.max_duration_seconds`; absent or null: `requests.default_duration_seconds`, if not longer */
                    duration_seconds?: number | null;
                    /** @description an emergency: needs a reason, and a rule that allows it */
                    break_glass?: boolean;
                    /** @description at most 16 KiB of JSON. `account_id`: the account of the resource, 12 digits, which its id must not contradict. `account_ids`: for a permission set, and required there: the accounts on which it is given, 1 to 50 different ones */
                    metadata?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestPreview"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listCatalogue: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description words, or beginnings of words, that the resource’s name, its id, the action and its description all have; case and accents do not matter */
                q?: string;
                /** @description several are separated by commas */
                type?: ("cloud_account" | "cloud_permission_set" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance" | "cloud_organizational_unit")[];
                /** @description only your favourites, the oldest first; or only what you requested last, at most 20 */
                only?: "favourites" | "recents";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CatalogueEntry"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listFavourites: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ListedFavourite"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    addFavourite: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    resource: components["schemas"]["ResourceReference"];
                    /** @description a permission set’s name, or a verb of your own: one line of visible text, without spaces around it or `__` before it */
                    action: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Favourite"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    removeFavourite: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    countRequests: {
        parameters: {
            query?: {
                /** @description several are separated by commas */
                status?: ("pending" | "approved" | "denied" | "expired" | "cancelled")[];
                /** @description ids of users, or `me` */
                requester_id?: string[];
                /** @description who approved or denied it: ids of users, or `me` */
                decided_by?: string[];
                /** @description several are separated by commas */
                resource_type?: ("cloud_account" | "cloud_permission_set" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance" | "cloud_organizational_unit")[];
                resource_id?: string;
                /** @description whether they were emergencies */
                break_glass?: boolean;
                /** @description `me`: pending requests that you may decide now. Without `status`, `decided_by` and `q` */
                decidable_by?: "me";
                /** @description created at this moment or later */
                created_after?: string;
                /** @description created before this moment */
                created_before?: string;
                /** @description words, or beginnings of words, that the resource’s id, the action and the reason all have; case and accents do not matter */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordCount"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessRequestDetail"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    cancelRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                /** @example 01a21c50-ed1f-705e-8a9d-66af55474791 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRequestDecision: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RequestDecision"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listRequestComments: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RequestComment"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createRequestComment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description one or more lines, with a character that one can see */
                    text: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestComment"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listDeciders: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deciders"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    approveRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 01a21c50-ecfb-767e-961f-1d1e40abf60f */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reasoning": "go ahead"
                 *     }
                 */
                "application/json": {
                    reasoning?: string | null;
                    /** @description gives less time than was requested */
                    duration_seconds?: number | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a21c50-ecfb-767e-961f-1d1e40abf60f",
                     *       "requester_id": "01a21c50-e88b-704a-b6ec-11410d168227",
                     *       "resource": {
                     *         "type": "cloud_account",
                     *         "id": "123456789012"
                     *       },
                     *       "action": "ReadOnlyAccess",
                     *       "reason": "look at the logs",
                     *       "duration_seconds": 3600,
                     *       "status": "approved",
                     *       "decision_reasoning": "go ahead",
                     *       "decided_by": "01a21c50-e94f-7382-82fd-1043acee723f",
                     *       "approval_mode": "require",
                     *       "break_glass": false,
                     *       "metadata": {},
                     *       "created_at": "2026-11-27T09:00:00.000Z",
                     *       "updated_at": "2026-11-27T09:05:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["AccessRequest"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    denyRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reasoning?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessRequest"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    decideRequests: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description each request at most once; they are made in this order */
                    decisions: components["schemas"]["DecisionInput"][];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description in the order of the decisions */
                        results: components["schemas"]["DecisionResult"][];
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    remindDeciders: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reminded"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getAccessRequestStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 01a21c50-ecfb-767e-961f-1d1e40abf60f */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a21c50-ecfb-767e-961f-1d1e40abf60f",
                     *       "status": "approved",
                     *       "grants": [
                     *         {
                     *           "id": "01a21c50-ed8c-7315-a012-0c2d0e81dc4b",
                     *           "name": "ReadOnlyAccess on cloud_account 123456789012",
                     *           "status": "active",
                     *           "approved": true,
                     *           "activated_at": "2026-11-27T09:05:01.000Z",
                     *           "expires_at": "2026-11-27T10:05:01.000Z",
                     *           "provisioning_status": "successful"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AccessRequestStatusView"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listGrants: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description ids of users, or `me` */
                user_id?: string[];
                request_id?: string;
                /** @description several are separated by commas */
                status?: ("pending" | "active" | "expired" | "revoked" | "failed")[];
                /** @description several are separated by commas */
                provisioning_status?: ("not_attempted" | "attempting" | "successful" | "failed" | "deprovisioning" | "deprovisioned" | "deprovisioning_failed")[];
                /** @description several are separated by commas */
                resource_type?: ("cloud_account" | "cloud_permission_set" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance" | "cloud_organizational_unit")[];
                resource_id?: string;
                action?: string;
                /** @description ids of provisioners, or `sandbox` where the tenant has none */
                provisioner_id?: string[];
                /** @description whether they are active and their access was removed by hand */
                drifted?: boolean;
                /** @description active grants that end before this moment; those that end first come first, unless `sort` is given */
                ends_before?: string;
                /** @description created at this moment or later */
                created_after?: string;
                /** @description created before this moment */
                created_before?: string;
                /** @description words, or beginnings of words, that the resource’s id and the action all have; case and accents do not matter */
                q?: string;
                /** @description `-created_at` where absent; `-` is descending; with `expires_at`, the list has active grants alone */
                sort?: "created_at" | "-created_at" | "expires_at" | "-expires_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["NamedGrant"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    countGrants: {
        parameters: {
            query?: {
                /** @description ids of users, or `me` */
                user_id?: string[];
                request_id?: string;
                /** @description several are separated by commas */
                status?: ("pending" | "active" | "expired" | "revoked" | "failed")[];
                /** @description several are separated by commas */
                provisioning_status?: ("not_attempted" | "attempting" | "successful" | "failed" | "deprovisioning" | "deprovisioned" | "deprovisioning_failed")[];
                /** @description several are separated by commas */
                resource_type?: ("cloud_account" | "cloud_permission_set" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance" | "cloud_organizational_unit")[];
                resource_id?: string;
                action?: string;
                /** @description ids of provisioners, or `sandbox` where the tenant has none */
                provisioner_id?: string[];
                /** @description whether they are active and their access was removed by hand */
                drifted?: boolean;
                /** @description active grants that end before this moment */
                ends_before?: string;
                /** @description created at this moment or later */
                created_after?: string;
                /** @description created before this moment */
                created_before?: string;
                /** @description words, or beginnings of words, that the resource’s id and the action all have; case and accents do not matter */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordCount"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getGrant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantDetail"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    revokeGrant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Grant"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    retryGrant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Grant"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createGrantCredentials: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantCredentials"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    extendGrant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description how long the access lasts beyond its end; with the time before it, at most the tenant’s maximum */
                    duration_seconds: number;
                    /** @description required, as text that one can see, in an emergency and where the setting `requests.require_reason` is true */
                    reason?: string | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedRequest"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listPolicies: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description words, or beginnings of words, that the name and the description all have; case and accents do not matter */
                q?: string;
                /** @description created at this moment or later */
                created_after?: string;
                /** @description created before this moment */
                created_before?: string;
                /** @description `priority` where absent; `-` is descending; with a range of time, `created_at` where absent */
                sort?: "priority" | "-priority" | "name" | "-name" | "created_at" | "-created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Policy"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description For people; need not be unique. */
                    name: string;
                    description?: string;
                    /** @description The rules of a disabled policy decide nothing. */
                    enabled?: boolean;
                    /** @description Place among the policies, the lowest first. It chooses which rule’s text is shown, never the decision. */
                    priority?: number;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Policy"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    reorderPolicies: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ids": [
                 *         "01a21c50-eadc-761a-ba05-688172f7deed",
                 *         "01a21c50-e7b5-7036-a81e-8d3b361edf4b"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The ids in the new order. They share out the places that they have now; all others keep their places. */
                    ids: string[];
                };
            };
        };
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getPolicySchema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description In Cedar’s own notation. */
                        cedar: string;
                        /** @description In Cedar’s JSON form. */
                        json: {
                            [key: string]: unknown;
                        };
                    };
                    "text/plain": string;
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    checkInvariants: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Either `policies` or `changes`. */
                    draft?: {
                        /** @description The complete set. A policy with an `id` is that policy of the tenant; the draft deletes every policy that is absent. */
                        policies?: {
                            /** Format: uuid */
                            id?: string;
                            /** @description For people; need not be unique. */
                            name: string;
                            description?: string;
                            /** @description The rules of a disabled policy decide nothing. */
                            enabled?: boolean;
                            /** @description Place among the policies, the lowest first. It chooses which rule’s text is shown, never the decision. */
                            priority?: number;
                            rules: {
                                /**
                                 * Format: uuid
                                 * @description The id of the tenant’s rule that this is, changed or not. Without it, a rule identical to one of the tenant’s is that rule.
                                 */
                                id?: string;
                                /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                policy_text?: string;
                                /** @enum {unknown} */
                                effect?: "permit" | "forbid";
                                /** @enum {unknown} */
                                principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                principal_entity_type?: string;
                                /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                principal_entity_id?: string;
                                /** @enum {unknown} */
                                action_scope_type?: "any" | "eq" | "in";
                                /** @description One action for `eq`, one or more for `in`. */
                                action_ids?: string[];
                                /** @enum {unknown} */
                                resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                resource_entity_type?: string;
                                /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                resource_entity_id?: string;
                                /** @description `when` and `unless` clauses, as Cedar writes them. */
                                conditions?: string;
                                /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                ordinal?: number;
                                /** @description The text that people read when the rule decides. */
                                notice?: string;
                                /** @description Whether grants have session auditing. */
                                audit_session?: boolean;
                                /**
                                 * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                 * @enum {unknown}
                                 */
                                approval_mode?: "require" | "auto" | "break_glass";
                            }[];
                        }[];
                        /** @description Changes of the current set, applied in order. */
                        changes?: {
                            create_rule?: {
                                /** Format: uuid */
                                policy_id: string;
                                /** @description Either `policy_text`, or `effect` and the scope. A scope type that is absent is `any`; another one but `any` needs its entity type, and its entity id unless it is `is`; an entity field that it does not use is refused. `action_ids`: none for `any`, one for `eq`, one or more for `in`. */
                                rule: {
                                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                    policy_text?: string;
                                    /** @enum {unknown} */
                                    effect?: "permit" | "forbid";
                                    /** @enum {unknown} */
                                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    principal_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    principal_entity_id?: string;
                                    /** @enum {unknown} */
                                    action_scope_type?: "any" | "eq" | "in";
                                    /** @description One action for `eq`, one or more for `in`. */
                                    action_ids?: string[];
                                    /** @enum {unknown} */
                                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    resource_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    resource_entity_id?: string;
                                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                                    conditions?: string;
                                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                    ordinal?: number;
                                    /** @description The text that people read when the rule decides. */
                                    notice?: string;
                                    /** @description Whether grants have session auditing. */
                                    audit_session?: boolean;
                                    /**
                                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                     * @enum {unknown}
                                     */
                                    approval_mode?: "require" | "auto" | "break_glass";
                                };
                            };
                            update_rule?: {
                                /** Format: uuid */
                                rule_id: string;
                                /** @description Either `policy_text`, or `effect` and the scope. A scope type that is absent is `any`; another one but `any` needs its entity type, and its entity id unless it is `is`; an entity field that it does not use is refused. `action_ids`: none for `any`, one for `eq`, one or more for `in`. */
                                rule: {
                                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                    policy_text?: string;
                                    /** @enum {unknown} */
                                    effect?: "permit" | "forbid";
                                    /** @enum {unknown} */
                                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    principal_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    principal_entity_id?: string;
                                    /** @enum {unknown} */
                                    action_scope_type?: "any" | "eq" | "in";
                                    /** @description One action for `eq`, one or more for `in`. */
                                    action_ids?: string[];
                                    /** @enum {unknown} */
                                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    resource_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    resource_entity_id?: string;
                                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                                    conditions?: string;
                                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                    ordinal?: number;
                                    /** @description The text that people read when the rule decides. */
                                    notice?: string;
                                    /** @description Whether grants have session auditing. */
                                    audit_session?: boolean;
                                    /**
                                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                     * @enum {unknown}
                                     */
                                    approval_mode?: "require" | "auto" | "break_glass";
                                };
                            };
                            delete_rule?: {
                                /** Format: uuid */
                                rule_id: string;
                            };
                            create_policy?: {
                                /** @description For people; need not be unique. */
                                name: string;
                                description?: string;
                                /** @description The rules of a disabled policy decide nothing. */
                                enabled?: boolean;
                                /** @description Place among the policies, the lowest first. It chooses which rule’s text is shown, never the decision. */
                                priority?: number;
                                rules?: {
                                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                    policy_text?: string;
                                    /** @enum {unknown} */
                                    effect?: "permit" | "forbid";
                                    /** @enum {unknown} */
                                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    principal_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    principal_entity_id?: string;
                                    /** @enum {unknown} */
                                    action_scope_type?: "any" | "eq" | "in";
                                    /** @description One action for `eq`, one or more for `in`. */
                                    action_ids?: string[];
                                    /** @enum {unknown} */
                                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    resource_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    resource_entity_id?: string;
                                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                                    conditions?: string;
                                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                    ordinal?: number;
                                    /** @description The text that people read when the rule decides. */
                                    notice?: string;
                                    /** @description Whether grants have session auditing. */
                                    audit_session?: boolean;
                                    /**
                                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                     * @enum {unknown}
                                     */
                                    approval_mode?: "require" | "auto" | "break_glass";
                                }[];
                            };
                            update_policy?: {
                                /** Format: uuid */
                                policy_id: string;
                                /** @description The rules of a disabled policy decide nothing. */
                                enabled: boolean;
                            };
                            delete_policy?: {
                                /** Format: uuid */
                                policy_id: string;
                            };
                        }[];
                    };
                    checks: {
                        no_auto_approval?: {
                            /** @description No request in any of them is approved without a person, neither by `auto` nor by `break_glass`. */
                            resources: {
                                /**
                                 * @description As `resource_scope_type` of a rule.
                                 * @enum {unknown}
                                 */
                                scope_type: "any" | "eq" | "in" | "is" | "is_in";
                                entity_type?: string;
                                entity_id?: string;
                                /** @description Tags that all the resources have. */
                                tags?: {
                                    [key: string]: string;
                                };
                            }[];
                        };
                        /**
                         * @description The draft permits nothing that the current rules do not: no request, and nobody to decide one.
                         * @constant
                         */
                        permits_nothing_new?: true;
                        approvers?: {
                            /** @description The resources whose requests are meant. */
                            resources: {
                                /**
                                 * @description As `resource_scope_type` of a rule.
                                 * @enum {unknown}
                                 */
                                scope_type: "any" | "eq" | "in" | "is" | "is_in";
                                entity_type?: string;
                                entity_id?: string;
                                /** @description Tags that all the resources have. */
                                tags?: {
                                    [key: string]: string;
                                };
                            }[];
                            /** @description Nobody may decide these requests but members of one of these groups and roles, and these users. */
                            only: {
                                /** @enum {unknown} */
                                type: "User" | "Group" | "Role";
                                /** @description The id as in rules: `Group::"<id>"`. */
                                id: string;
                            }[];
                        };
                    }[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvariantsAnswer"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listPolicyCases: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        cases: components["schemas"]["PolicyCase"][];
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replacePolicyCases: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    cases: components["schemas"]["PolicyCase"][];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyCasesReplaced"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    testPolicies: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    cases?: components["schemas"]["PolicyCase"][];
                    /** @description Either `policies` or `changes`. */
                    draft?: {
                        /** @description The complete set. A policy with an `id` is that policy of the tenant; the draft deletes every policy that is absent. */
                        policies?: {
                            /** Format: uuid */
                            id?: string;
                            /** @description For people; need not be unique. */
                            name: string;
                            description?: string;
                            /** @description The rules of a disabled policy decide nothing. */
                            enabled?: boolean;
                            /** @description Place among the policies, the lowest first. It chooses which rule’s text is shown, never the decision. */
                            priority?: number;
                            rules: {
                                /**
                                 * Format: uuid
                                 * @description The id of the tenant’s rule that this is, changed or not. Without it, a rule identical to one of the tenant’s is that rule.
                                 */
                                id?: string;
                                /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                policy_text?: string;
                                /** @enum {unknown} */
                                effect?: "permit" | "forbid";
                                /** @enum {unknown} */
                                principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                principal_entity_type?: string;
                                /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                principal_entity_id?: string;
                                /** @enum {unknown} */
                                action_scope_type?: "any" | "eq" | "in";
                                /** @description One action for `eq`, one or more for `in`. */
                                action_ids?: string[];
                                /** @enum {unknown} */
                                resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                resource_entity_type?: string;
                                /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                resource_entity_id?: string;
                                /** @description `when` and `unless` clauses, as Cedar writes them. */
                                conditions?: string;
                                /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                ordinal?: number;
                                /** @description The text that people read when the rule decides. */
                                notice?: string;
                                /** @description Whether grants have session auditing. */
                                audit_session?: boolean;
                                /**
                                 * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                 * @enum {unknown}
                                 */
                                approval_mode?: "require" | "auto" | "break_glass";
                            }[];
                        }[];
                        /** @description Changes of the current set, applied in order. */
                        changes?: {
                            create_rule?: {
                                /** Format: uuid */
                                policy_id: string;
                                /** @description Either `policy_text`, or `effect` and the scope. A scope type that is absent is `any`; another one but `any` needs its entity type, and its entity id unless it is `is`; an entity field that it does not use is refused. `action_ids`: none for `any`, one for `eq`, one or more for `in`. */
                                rule: {
                                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                    policy_text?: string;
                                    /** @enum {unknown} */
                                    effect?: "permit" | "forbid";
                                    /** @enum {unknown} */
                                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    principal_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    principal_entity_id?: string;
                                    /** @enum {unknown} */
                                    action_scope_type?: "any" | "eq" | "in";
                                    /** @description One action for `eq`, one or more for `in`. */
                                    action_ids?: string[];
                                    /** @enum {unknown} */
                                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    resource_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    resource_entity_id?: string;
                                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                                    conditions?: string;
                                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                    ordinal?: number;
                                    /** @description The text that people read when the rule decides. */
                                    notice?: string;
                                    /** @description Whether grants have session auditing. */
                                    audit_session?: boolean;
                                    /**
                                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                     * @enum {unknown}
                                     */
                                    approval_mode?: "require" | "auto" | "break_glass";
                                };
                            };
                            update_rule?: {
                                /** Format: uuid */
                                rule_id: string;
                                /** @description Either `policy_text`, or `effect` and the scope. A scope type that is absent is `any`; another one but `any` needs its entity type, and its entity id unless it is `is`; an entity field that it does not use is refused. `action_ids`: none for `any`, one for `eq`, one or more for `in`. */
                                rule: {
                                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                    policy_text?: string;
                                    /** @enum {unknown} */
                                    effect?: "permit" | "forbid";
                                    /** @enum {unknown} */
                                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    principal_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    principal_entity_id?: string;
                                    /** @enum {unknown} */
                                    action_scope_type?: "any" | "eq" | "in";
                                    /** @description One action for `eq`, one or more for `in`. */
                                    action_ids?: string[];
                                    /** @enum {unknown} */
                                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    resource_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    resource_entity_id?: string;
                                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                                    conditions?: string;
                                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                    ordinal?: number;
                                    /** @description The text that people read when the rule decides. */
                                    notice?: string;
                                    /** @description Whether grants have session auditing. */
                                    audit_session?: boolean;
                                    /**
                                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                     * @enum {unknown}
                                     */
                                    approval_mode?: "require" | "auto" | "break_glass";
                                };
                            };
                            delete_rule?: {
                                /** Format: uuid */
                                rule_id: string;
                            };
                            create_policy?: {
                                /** @description For people; need not be unique. */
                                name: string;
                                description?: string;
                                /** @description The rules of a disabled policy decide nothing. */
                                enabled?: boolean;
                                /** @description Place among the policies, the lowest first. It chooses which rule’s text is shown, never the decision. */
                                priority?: number;
                                rules?: {
                                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                    policy_text?: string;
                                    /** @enum {unknown} */
                                    effect?: "permit" | "forbid";
                                    /** @enum {unknown} */
                                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    principal_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    principal_entity_id?: string;
                                    /** @enum {unknown} */
                                    action_scope_type?: "any" | "eq" | "in";
                                    /** @description One action for `eq`, one or more for `in`. */
                                    action_ids?: string[];
                                    /** @enum {unknown} */
                                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    resource_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    resource_entity_id?: string;
                                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                                    conditions?: string;
                                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                    ordinal?: number;
                                    /** @description The text that people read when the rule decides. */
                                    notice?: string;
                                    /** @description Whether grants have session auditing. */
                                    audit_session?: boolean;
                                    /**
                                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                     * @enum {unknown}
                                     */
                                    approval_mode?: "require" | "auto" | "break_glass";
                                }[];
                            };
                            update_policy?: {
                                /** Format: uuid */
                                policy_id: string;
                                /** @description The rules of a disabled policy decide nothing. */
                                enabled: boolean;
                            };
                            delete_policy?: {
                                /** Format: uuid */
                                policy_id: string;
                            };
                        }[];
                    };
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseOutcomes"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    findGains: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Either `policies` or `changes`. */
                    draft: {
                        /** @description The complete set. A policy with an `id` is that policy of the tenant; the draft deletes every policy that is absent. */
                        policies?: {
                            /** Format: uuid */
                            id?: string;
                            /** @description For people; need not be unique. */
                            name: string;
                            description?: string;
                            /** @description The rules of a disabled policy decide nothing. */
                            enabled?: boolean;
                            /** @description Place among the policies, the lowest first. It chooses which rule’s text is shown, never the decision. */
                            priority?: number;
                            rules: {
                                /**
                                 * Format: uuid
                                 * @description The id of the tenant’s rule that this is, changed or not. Without it, a rule identical to one of the tenant’s is that rule.
                                 */
                                id?: string;
                                /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                policy_text?: string;
                                /** @enum {unknown} */
                                effect?: "permit" | "forbid";
                                /** @enum {unknown} */
                                principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                principal_entity_type?: string;
                                /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                principal_entity_id?: string;
                                /** @enum {unknown} */
                                action_scope_type?: "any" | "eq" | "in";
                                /** @description One action for `eq`, one or more for `in`. */
                                action_ids?: string[];
                                /** @enum {unknown} */
                                resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                resource_entity_type?: string;
                                /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                resource_entity_id?: string;
                                /** @description `when` and `unless` clauses, as Cedar writes them. */
                                conditions?: string;
                                /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                ordinal?: number;
                                /** @description The text that people read when the rule decides. */
                                notice?: string;
                                /** @description Whether grants have session auditing. */
                                audit_session?: boolean;
                                /**
                                 * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                 * @enum {unknown}
                                 */
                                approval_mode?: "require" | "auto" | "break_glass";
                            }[];
                        }[];
                        /** @description Changes of the current set, applied in order. */
                        changes?: {
                            create_rule?: {
                                /** Format: uuid */
                                policy_id: string;
                                /** @description Either `policy_text`, or `effect` and the scope. A scope type that is absent is `any`; another one but `any` needs its entity type, and its entity id unless it is `is`; an entity field that it does not use is refused. `action_ids`: none for `any`, one for `eq`, one or more for `in`. */
                                rule: {
                                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                    policy_text?: string;
                                    /** @enum {unknown} */
                                    effect?: "permit" | "forbid";
                                    /** @enum {unknown} */
                                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    principal_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    principal_entity_id?: string;
                                    /** @enum {unknown} */
                                    action_scope_type?: "any" | "eq" | "in";
                                    /** @description One action for `eq`, one or more for `in`. */
                                    action_ids?: string[];
                                    /** @enum {unknown} */
                                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    resource_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    resource_entity_id?: string;
                                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                                    conditions?: string;
                                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                    ordinal?: number;
                                    /** @description The text that people read when the rule decides. */
                                    notice?: string;
                                    /** @description Whether grants have session auditing. */
                                    audit_session?: boolean;
                                    /**
                                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                     * @enum {unknown}
                                     */
                                    approval_mode?: "require" | "auto" | "break_glass";
                                };
                            };
                            update_rule?: {
                                /** Format: uuid */
                                rule_id: string;
                                /** @description Either `policy_text`, or `effect` and the scope. A scope type that is absent is `any`; another one but `any` needs its entity type, and its entity id unless it is `is`; an entity field that it does not use is refused. `action_ids`: none for `any`, one for `eq`, one or more for `in`. */
                                rule: {
                                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                    policy_text?: string;
                                    /** @enum {unknown} */
                                    effect?: "permit" | "forbid";
                                    /** @enum {unknown} */
                                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    principal_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    principal_entity_id?: string;
                                    /** @enum {unknown} */
                                    action_scope_type?: "any" | "eq" | "in";
                                    /** @description One action for `eq`, one or more for `in`. */
                                    action_ids?: string[];
                                    /** @enum {unknown} */
                                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    resource_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    resource_entity_id?: string;
                                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                                    conditions?: string;
                                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                    ordinal?: number;
                                    /** @description The text that people read when the rule decides. */
                                    notice?: string;
                                    /** @description Whether grants have session auditing. */
                                    audit_session?: boolean;
                                    /**
                                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                     * @enum {unknown}
                                     */
                                    approval_mode?: "require" | "auto" | "break_glass";
                                };
                            };
                            delete_rule?: {
                                /** Format: uuid */
                                rule_id: string;
                            };
                            create_policy?: {
                                /** @description For people; need not be unique. */
                                name: string;
                                description?: string;
                                /** @description The rules of a disabled policy decide nothing. */
                                enabled?: boolean;
                                /** @description Place among the policies, the lowest first. It chooses which rule’s text is shown, never the decision. */
                                priority?: number;
                                rules?: {
                                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                    policy_text?: string;
                                    /** @enum {unknown} */
                                    effect?: "permit" | "forbid";
                                    /** @enum {unknown} */
                                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    principal_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    principal_entity_id?: string;
                                    /** @enum {unknown} */
                                    action_scope_type?: "any" | "eq" | "in";
                                    /** @description One action for `eq`, one or more for `in`. */
                                    action_ids?: string[];
                                    /** @enum {unknown} */
                                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    resource_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    resource_entity_id?: string;
                                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                                    conditions?: string;
                                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                    ordinal?: number;
                                    /** @description The text that people read when the rule decides. */
                                    notice?: string;
                                    /** @description Whether grants have session auditing. */
                                    audit_session?: boolean;
                                    /**
                                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                     * @enum {unknown}
                                     */
                                    approval_mode?: "require" | "auto" | "break_glass";
                                }[];
                            };
                            update_policy?: {
                                /** Format: uuid */
                                policy_id: string;
                                /** @description The rules of a disabled policy decide nothing. */
                                enabled: boolean;
                            };
                            delete_policy?: {
                                /** Format: uuid */
                                policy_id: string;
                            };
                        }[];
                    };
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Gains"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Policy"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deletePolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updatePolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description For people; need not be unique.; must be a name that one can see, on one line, without control characters or marks that change the text direction; or the present value */
                    name?: string;
                    description?: string;
                    /** @description The rules of a disabled policy decide nothing. */
                    enabled?: boolean;
                    /** Format: uuid */
                    id?: string;
                    priority?: number;
                    rules?: unknown;
                    /** Format: date-time */
                    created_at?: string;
                    /** Format: date-time */
                    updated_at?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Policy"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    exportPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The text of the file. */
                        cedar: string;
                    };
                    "text/plain": string;
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    importPolicy: {
        parameters: {
            query?: {
                /** @description Returns what would change, and changes nothing. */
                dry_run?: boolean;
            };
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The text of the file. */
                    cedar: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportResult"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 01a21c50-eadc-761a-ba05-688172f7deed */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "effect": "permit",
                 *       "action_scope_type": "eq",
                 *       "action_ids": [
                 *         "ReadOnlyAccess"
                 *       ],
                 *       "resource_scope_type": "is",
                 *       "resource_entity_type": "cloud_account",
                 *       "conditions": "when { context.duration_seconds <= 14400 }"
                 *     }
                 */
                "application/json": {
                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                    policy_text?: string;
                    /** @enum {unknown} */
                    effect?: "permit" | "forbid";
                    /** @enum {unknown} */
                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                    principal_entity_type?: string;
                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                    principal_entity_id?: string;
                    /** @enum {unknown} */
                    action_scope_type?: "any" | "eq" | "in";
                    /** @description One action for `eq`, one or more for `in`. */
                    action_ids?: string[];
                    /** @enum {unknown} */
                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                    resource_entity_type?: string;
                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                    resource_entity_id?: string;
                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                    conditions?: string;
                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                    ordinal?: number;
                    /** @description The text that people read when the rule decides. */
                    notice?: string;
                    /** @description Whether grants have session auditing. */
                    audit_session?: boolean;
                    /**
                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                     * @enum {unknown}
                     */
                    approval_mode?: "require" | "auto" | "break_glass";
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a21c50-eb07-718f-b7d0-d3d1deb621b9",
                     *       "policy_id": "01a21c50-eadc-761a-ba05-688172f7deed",
                     *       "ordinal": 0,
                     *       "effect": "permit",
                     *       "principal_scope_type": "any",
                     *       "action_scope_type": "eq",
                     *       "action_ids": [
                     *         "ReadOnlyAccess"
                     *       ],
                     *       "resource_scope_type": "is",
                     *       "resource_entity_type": "cloud_account",
                     *       "conditions": "when { context.duration_seconds <= 14400 }",
                     *       "policy_text": "permit(principal, action == Action::\"ReadOnlyAccess\", resource is cloud_account) when { context.duration_seconds <= 14400 };",
                     *       "approval_mode": "require",
                     *       "audit_session": false,
                     *       "created_at": "2026-11-27T08:02:00.000Z",
                     *       "updated_at": "2026-11-27T08:02:00.000Z",
                     *       "warnings": []
                     *     }
                     */
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        /** Format: uuid */
                        policy_id: string;
                        /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                        ordinal: number;
                        /** @enum {unknown} */
                        effect: "permit" | "forbid";
                        /** @enum {unknown} */
                        principal_scope_type: "any" | "eq" | "in" | "is" | "is_in";
                        /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                        principal_entity_type?: string;
                        /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                        principal_entity_id?: string;
                        /** @enum {unknown} */
                        action_scope_type: "any" | "eq" | "in";
                        /** @description One action for `eq`, one or more for `in`. */
                        action_ids: string[];
                        /** @enum {unknown} */
                        resource_scope_type: "any" | "eq" | "in" | "is" | "is_in";
                        /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                        resource_entity_type?: string;
                        /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                        resource_entity_id?: string;
                        conditions?: string;
                        policy_text: string;
                        /** @description The text that people read when the rule decides. */
                        notice?: string;
                        audit_session: boolean;
                        /**
                         * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                         * @enum {unknown}
                         */
                        approval_mode?: "require" | "auto" | "break_glass";
                        /** Format: date-time */
                        created_at: string;
                        /** Format: date-time */
                        updated_at: string;
                        /** @description Effects of the rule that its author may not have intended. */
                        warnings?: string[];
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    reorderRules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The ids in the new order. They share out the places that they have now; all others keep their places. */
                    ids: string[];
                };
            };
        };
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replayPolicies: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Either `policies` or `changes`. */
                    draft: {
                        /** @description The complete set. A policy with an `id` is that policy of the tenant; the draft deletes every policy that is absent. */
                        policies?: {
                            /** Format: uuid */
                            id?: string;
                            /** @description For people; need not be unique. */
                            name: string;
                            description?: string;
                            /** @description The rules of a disabled policy decide nothing. */
                            enabled?: boolean;
                            /** @description Place among the policies, the lowest first. It chooses which rule’s text is shown, never the decision. */
                            priority?: number;
                            rules: {
                                /**
                                 * Format: uuid
                                 * @description The id of the tenant’s rule that this is, changed or not. Without it, a rule identical to one of the tenant’s is that rule.
                                 */
                                id?: string;
                                /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                policy_text?: string;
                                /** @enum {unknown} */
                                effect?: "permit" | "forbid";
                                /** @enum {unknown} */
                                principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                principal_entity_type?: string;
                                /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                principal_entity_id?: string;
                                /** @enum {unknown} */
                                action_scope_type?: "any" | "eq" | "in";
                                /** @description One action for `eq`, one or more for `in`. */
                                action_ids?: string[];
                                /** @enum {unknown} */
                                resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                resource_entity_type?: string;
                                /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                resource_entity_id?: string;
                                /** @description `when` and `unless` clauses, as Cedar writes them. */
                                conditions?: string;
                                /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                ordinal?: number;
                                /** @description The text that people read when the rule decides. */
                                notice?: string;
                                /** @description Whether grants have session auditing. */
                                audit_session?: boolean;
                                /**
                                 * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                 * @enum {unknown}
                                 */
                                approval_mode?: "require" | "auto" | "break_glass";
                            }[];
                        }[];
                        /** @description Changes of the current set, applied in order. */
                        changes?: {
                            create_rule?: {
                                /** Format: uuid */
                                policy_id: string;
                                /** @description Either `policy_text`, or `effect` and the scope. A scope type that is absent is `any`; another one but `any` needs its entity type, and its entity id unless it is `is`; an entity field that it does not use is refused. `action_ids`: none for `any`, one for `eq`, one or more for `in`. */
                                rule: {
                                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                    policy_text?: string;
                                    /** @enum {unknown} */
                                    effect?: "permit" | "forbid";
                                    /** @enum {unknown} */
                                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    principal_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    principal_entity_id?: string;
                                    /** @enum {unknown} */
                                    action_scope_type?: "any" | "eq" | "in";
                                    /** @description One action for `eq`, one or more for `in`. */
                                    action_ids?: string[];
                                    /** @enum {unknown} */
                                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    resource_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    resource_entity_id?: string;
                                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                                    conditions?: string;
                                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                    ordinal?: number;
                                    /** @description The text that people read when the rule decides. */
                                    notice?: string;
                                    /** @description Whether grants have session auditing. */
                                    audit_session?: boolean;
                                    /**
                                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                     * @enum {unknown}
                                     */
                                    approval_mode?: "require" | "auto" | "break_glass";
                                };
                            };
                            update_rule?: {
                                /** Format: uuid */
                                rule_id: string;
                                /** @description Either `policy_text`, or `effect` and the scope. A scope type that is absent is `any`; another one but `any` needs its entity type, and its entity id unless it is `is`; an entity field that it does not use is refused. `action_ids`: none for `any`, one for `eq`, one or more for `in`. */
                                rule: {
                                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                    policy_text?: string;
                                    /** @enum {unknown} */
                                    effect?: "permit" | "forbid";
                                    /** @enum {unknown} */
                                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    principal_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    principal_entity_id?: string;
                                    /** @enum {unknown} */
                                    action_scope_type?: "any" | "eq" | "in";
                                    /** @description One action for `eq`, one or more for `in`. */
                                    action_ids?: string[];
                                    /** @enum {unknown} */
                                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    resource_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    resource_entity_id?: string;
                                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                                    conditions?: string;
                                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                    ordinal?: number;
                                    /** @description The text that people read when the rule decides. */
                                    notice?: string;
                                    /** @description Whether grants have session auditing. */
                                    audit_session?: boolean;
                                    /**
                                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                     * @enum {unknown}
                                     */
                                    approval_mode?: "require" | "auto" | "break_glass";
                                };
                            };
                            delete_rule?: {
                                /** Format: uuid */
                                rule_id: string;
                            };
                            create_policy?: {
                                /** @description For people; need not be unique. */
                                name: string;
                                description?: string;
                                /** @description The rules of a disabled policy decide nothing. */
                                enabled?: boolean;
                                /** @description Place among the policies, the lowest first. It chooses which rule’s text is shown, never the decision. */
                                priority?: number;
                                rules?: {
                                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                                    policy_text?: string;
                                    /** @enum {unknown} */
                                    effect?: "permit" | "forbid";
                                    /** @enum {unknown} */
                                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    principal_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    principal_entity_id?: string;
                                    /** @enum {unknown} */
                                    action_scope_type?: "any" | "eq" | "in";
                                    /** @description One action for `eq`, one or more for `in`. */
                                    action_ids?: string[];
                                    /** @enum {unknown} */
                                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                                    resource_entity_type?: string;
                                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                                    resource_entity_id?: string;
                                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                                    conditions?: string;
                                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                                    ordinal?: number;
                                    /** @description The text that people read when the rule decides. */
                                    notice?: string;
                                    /** @description Whether grants have session auditing. */
                                    audit_session?: boolean;
                                    /**
                                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                                     * @enum {unknown}
                                     */
                                    approval_mode?: "require" | "auto" | "break_glass";
                                }[];
                            };
                            update_policy?: {
                                /** Format: uuid */
                                policy_id: string;
                                /** @description The rules of a disabled policy decide nothing. */
                                enabled: boolean;
                            };
                            delete_policy?: {
                                /** Format: uuid */
                                policy_id: string;
                            };
                        }[];
                    };
                    /** @description the number of days whose questions are evaluated; 30 when absent */
                    days?: number;
                };
            };
        };
        responses: {
            /** @description Accepted: the work follows */
            202: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyReplay"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getPolicyReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyReplay"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        /** Format: uuid */
                        policy_id: string;
                        /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                        ordinal: number;
                        /** @enum {unknown} */
                        effect: "permit" | "forbid";
                        /** @enum {unknown} */
                        principal_scope_type: "any" | "eq" | "in" | "is" | "is_in";
                        /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                        principal_entity_type?: string;
                        /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                        principal_entity_id?: string;
                        /** @enum {unknown} */
                        action_scope_type: "any" | "eq" | "in";
                        /** @description One action for `eq`, one or more for `in`. */
                        action_ids: string[];
                        /** @enum {unknown} */
                        resource_scope_type: "any" | "eq" | "in" | "is" | "is_in";
                        /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                        resource_entity_type?: string;
                        /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                        resource_entity_id?: string;
                        conditions?: string;
                        policy_text: string;
                        /** @description The text that people read when the rule decides. */
                        notice?: string;
                        audit_session: boolean;
                        /**
                         * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                         * @enum {unknown}
                         */
                        approval_mode?: "require" | "auto" | "break_glass";
                        /** Format: date-time */
                        created_at: string;
                        /** Format: date-time */
                        updated_at: string;
                        /** @description Effects of the rule that its author may not have intended. */
                        warnings?: string[];
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteRule: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateRule: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
                rule_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description One Cedar statement. The structured fields beside it are ignored, even invalid ones. */
                    policy_text?: string;
                    /** @enum {unknown} */
                    effect?: "permit" | "forbid";
                    /** @enum {unknown} */
                    principal_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                    principal_entity_type?: string;
                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                    principal_entity_id?: string;
                    /** @enum {unknown} */
                    action_scope_type?: "any" | "eq" | "in";
                    /** @description One action for `eq`, one or more for `in`. */
                    action_ids?: string[];
                    /** @enum {unknown} */
                    resource_scope_type?: "any" | "eq" | "in" | "is" | "is_in";
                    /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                    resource_entity_type?: string;
                    /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                    resource_entity_id?: string;
                    /** @description `when` and `unless` clauses, as Cedar writes them. */
                    conditions?: string;
                    /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                    ordinal?: number;
                    /** @description The text that people read when the rule decides. */
                    notice?: string;
                    /** @description Whether grants have session auditing. */
                    audit_session?: boolean;
                    /**
                     * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                     * @enum {unknown}
                     */
                    approval_mode?: "require" | "auto" | "break_glass";
                    /** Format: uuid */
                    id?: string;
                    /** Format: uuid */
                    policy_id?: string;
                    /** Format: date-time */
                    created_at?: string;
                    /** Format: date-time */
                    updated_at?: string;
                    warnings?: unknown;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        id: string;
                        /** Format: uuid */
                        policy_id: string;
                        /** @description Place within the policy. It chooses which rule’s text is shown, never the decision. */
                        ordinal: number;
                        /** @enum {unknown} */
                        effect: "permit" | "forbid";
                        /** @enum {unknown} */
                        principal_scope_type: "any" | "eq" | "in" | "is" | "is_in";
                        /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                        principal_entity_type?: string;
                        /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                        principal_entity_id?: string;
                        /** @enum {unknown} */
                        action_scope_type: "any" | "eq" | "in";
                        /** @description One action for `eq`, one or more for `in`. */
                        action_ids: string[];
                        /** @enum {unknown} */
                        resource_scope_type: "any" | "eq" | "in" | "is" | "is_in";
                        /** @description The entity type of the scope: of the entity for `eq` and `in`, the required type for `is` and `is_in`. */
                        resource_entity_type?: string;
                        /** @description The id of the entity for `eq` and `in`. For `is_in`, the required parent of the entity, type and id as in Cedar: `Group::"0b5e…"`, the id quoted as a JSON string. */
                        resource_entity_id?: string;
                        conditions?: string;
                        policy_text: string;
                        /** @description The text that people read when the rule decides. */
                        notice?: string;
                        audit_session: boolean;
                        /**
                         * @description On a permit: `require` (the default) needs a person’s approval, `auto` approves at once, `break_glass` applies to emergency requests only. On a forbid: absent = forbids every request, `auto` = forbids approval without a person, `break_glass` = forbids emergency requests.
                         * @enum {unknown}
                         */
                        approval_mode?: "require" | "auto" | "break_glass";
                        /** Format: date-time */
                        created_at: string;
                        /** Format: date-time */
                        updated_at: string;
                        /** @description Effects of the rule that its author may not have intended. */
                        warnings?: string[];
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listActions: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description words, or beginnings of words, that the action and its description all have; case and accents do not matter */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DescribedAction"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getAction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description the action as rules and requests name it, percent-encoded: `arn:aws:iam::aws:policy/Name` is `arn%3Aaws%3Aiam%3A%3Aaws%3Apolicy%2FName` */
                action: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DescribedAction"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    describeAction: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                /** @description the action as rules and requests name it, percent-encoded: `arn:aws:iam::aws:policy/Name` is `arn%3Aaws%3Aiam%3A%3Aaws%3Apolicy%2FName` */
                action: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description what the action lets its holder do, in words that an approver understands; must be a name that one can see, on one line, without control characters or marks that change the text direction; or the present value */
                    description: string;
                    /** @description as rules and requests name it */
                    action?: string;
                    /** Format: date-time */
                    updated_at?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DescribedAction"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    removeActionDescription: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                /** @description the action as rules and requests name it, percent-encoded: `arn:aws:iam::aws:policy/Name` is `arn%3Aaws%3Aiam%3A%3Aaws%3Apolicy%2FName` */
                action: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listPermissions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "resource": "requests",
                     *           "scopes": [
                     *             {
                     *               "scope": "requests:create",
                     *               "resource": "requests",
                     *               "action": "create",
                     *               "name": "Request access",
                     *               "description": "Create one's own access requests"
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["PermissionGroup"][];
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listRoles: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description words, or beginnings of words, that the name all have; case and accents do not matter */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Role"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createRole: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description not the name of a system role; need not be unique */
                    name: string;
                    description?: string;
                    /** @description GET /v1/permissions lists them; duplicates count once */
                    scopes: string[];
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Role"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRole: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `user`, `approver`, `admin`, `auditor`, or the uuid of a custom role */
                role_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Role"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteRole: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                /** @description `user`, `approver`, `admin`, `auditor`, or the uuid of a custom role */
                role_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateRole: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description `user`, `approver`, `admin`, `auditor`, or the uuid of a custom role
                 * @example 01a21c50-ec2b-756d-aaa3-1b2c381d67b4
                 */
                role_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "scopes": [
                 *         "groups:read",
                 *         "cloud_accounts:read"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description not the name of a system role; need not be unique; must be a name that one can see, on one line, without control characters or marks that change the text direction; or the present value */
                    name?: string;
                    description?: string;
                    /** @description GET /v1/permissions lists them; duplicates count once */
                    scopes?: string[];
                    /** @description a name such as `admin` for system roles, a uuid for custom roles */
                    id?: string;
                    /** @description every tenant has it, and it cannot be changed */
                    system?: boolean;
                    /** @description goes up with each change; in quotes it is the `ETag` */
                    version?: number;
                    /** Format: date-time */
                    created_at?: string;
                    /** Format: date-time */
                    updated_at?: string;
                    blast_radius?: unknown;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a21c50-ec2b-756d-aaa3-1b2c381d67b4",
                     *       "name": "Catalogue reader",
                     *       "description": "",
                     *       "scopes": [
                     *         "groups:read",
                     *         "cloud_accounts:read"
                     *       ],
                     *       "system": false,
                     *       "version": 2,
                     *       "created_at": "2026-11-27T08:06:00.000Z",
                     *       "updated_at": "2026-11-27T08:07:00.000Z",
                     *       "blast_radius": {
                     *         "level": "low",
                     *         "reasons": [
                     *           "`groups:read` only reads",
                     *           "`cloud_accounts:read` only reads"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Role"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listRoleHolders: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description `user`, `approver`, `admin`, `auditor`, or the uuid of a custom role */
                role_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RoleHolder"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description words, or beginnings of words, that the name and the e-mail address all have; case and accents do not matter */
                q?: string;
                /** @description ids of roles that users have themselves, as `roles` shows; several are separated by commas */
                role?: string[];
                /** @description the id of a group whose members are listed */
                group?: string;
                active?: boolean;
                /** @description whether they are suspended now */
                suspended?: boolean;
                /** @description several are separated by commas */
                auth_provider?: ("local" | "oidc" | "saml")[];
                /** @description created at this moment or later */
                created_after?: string;
                /** @description created before this moment */
                created_before?: string;
                /** @description `created_at` where absent; `-` is descending */
                sort?: "created_at" | "-created_at" | "name" | "-name";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ListedUser"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ada@acme.example",
                 *       "name": "Ada",
                 *       "roles": [
                 *         "user"
                 *       ],
                 *       "password": "a heron in the pond at dawn"
                 *     }
                 */
                "application/json": {
                    /** @description one bare e-mail address */
                    email: string;
                    name: string;
                    /** @description required for local users, and for them only; as long as the setting `auth.password_min_length` says, at most 128 characters, and none of the most common ones */
                    password?: string;
                    /** @description user, approver, admin */
                    roles: string[];
                    /**
                     * @description default: `local`
                     * @enum {string}
                     */
                    auth_provider?: "local" | "oidc" | "saml";
                    /** @description a data URI: png, jpeg or webp in padded base64 of at most 256 KiB; the image has at most 2048 pixels a side */
                    avatar_base64?: string | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a21c50-e88b-704a-b6ec-11410d168227",
                     *       "email": "ada@acme.example",
                     *       "name": "Ada",
                     *       "roles": [
                     *         "user"
                     *       ],
                     *       "auth_provider": "local",
                     *       "active": true,
                     *       "email_verified": false,
                     *       "is_owner": false,
                     *       "created_at": "2026-11-27T08:01:00.000Z",
                     *       "updated_at": "2026-11-27T08:01:00.000Z",
                     *       "avatar_base64": null
                     *     }
                     */
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                /** @example 01a21c50-e88b-704a-b6ec-11410d168227 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "department": "Payments",
                 *       "title": "Engineer",
                 *       "manager_id": "01a21c50-e94f-7382-82fd-1043acee723f"
                 *     }
                 */
                "application/json": {
                    /** @description must be a name that one can see, on one line, without control characters or marks that change the text direction; or the present value */
                    name?: string;
                    /** @description false cancels the user’s requests and revokes their grants; true reactivates them */
                    active?: boolean;
                    /** @description for rules; null: not known; must be a name that one can see, on one line, without control characters or marks that change the text direction; or the present value */
                    department?: string | null;
                    /**
                     * Format: uuid
                     * @description another user, for rules and as approver; null: not known
                     */
                    manager_id?: string | null;
                    /** Format: uuid */
                    id?: string;
                    email?: string;
                    roles?: unknown;
                    /** @enum {string} */
                    auth_provider?: "local" | "oidc" | "saml";
                    email_verified?: boolean;
                    is_owner?: boolean;
                    /** Format: date-time */
                    created_at?: string;
                    /** Format: date-time */
                    updated_at?: string;
                    /**
                     * Format: uuid
                     * @description the directory that manages the user; left out where nobody else does
                     */
                    identity_provider_id?: string;
                    /**
                     * Format: date-time
                     * @description present while the user is suspended, whatever `active` says
                     */
                    suspended_until?: string;
                    avatar_base64?: string | null;
                    /** @description the job title, for rules; null: not known; must be a name that one can see, on one line, without control characters or marks that change the text direction; or the present value */
                    title?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a21c50-e88b-704a-b6ec-11410d168227",
                     *       "email": "ada@acme.example",
                     *       "name": "Ada",
                     *       "roles": [
                     *         "user"
                     *       ],
                     *       "auth_provider": "local",
                     *       "active": true,
                     *       "email_verified": false,
                     *       "is_owner": false,
                     *       "created_at": "2026-11-27T08:01:00.000Z",
                     *       "updated_at": "2026-11-27T08:01:30.000Z",
                     *       "department": "Payments",
                     *       "title": "Engineer",
                     *       "manager_id": "01a21c50-e94f-7382-82fd-1043acee723f",
                     *       "avatar_base64": null
                     *     }
                     */
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listUserGroups: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["UserGroup"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    suspendUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    unsuspendUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    endUserAccess: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedAccess"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resetSecondFactors: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getOwnUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnUser"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getOwnProfile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnProfile"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateOwnProfile: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "display_name": "Ada L."
                 *     }
                 */
                "application/json": {
                    /** @description at most 100 characters after NFC, on one line, without marks that change the text direction and other invisible characters; empty or null: none */
                    first_name?: string | null;
                    /** @description at most 100 characters after NFC, on one line, without marks that change the text direction and other invisible characters; empty or null: none */
                    last_name?: string | null;
                    /** @description at most 100 characters after NFC, on one line, without marks that change the text direction and other invisible characters; empty or null: none */
                    display_name?: string | null;
                    /** @description a data URI: png, jpeg or webp in padded base64 of at most 256 KiB; the image has at most 2048 pixels a side; null removes it */
                    avatar_base64?: string | null;
                    /** Format: uuid */
                    id?: string;
                    email?: string;
                    name?: string;
                    /** @enum {string} */
                    auth_provider?: "local" | "oidc" | "saml";
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a21c50-e88b-704a-b6ec-11410d168227",
                     *       "email": "ada@acme.example",
                     *       "name": "Ada",
                     *       "auth_provider": "local",
                     *       "first_name": null,
                     *       "last_name": null,
                     *       "display_name": "Ada L.",
                     *       "avatar_base64": null
                     *     }
                     */
                    "application/json": components["schemas"]["OwnProfile"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getOwnPreferences: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preferences"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateOwnPreferences: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "timezone": "Europe/Berlin",
                 *       "time_format": "24h"
                 *     }
                 */
                "application/json": {
                    /** @description a language tag as in BCP 47; null: the tenant’s */
                    locale?: string | null;
                    /** @description an IANA name; null: what the client itself detects */
                    timezone?: string | null;
                    /**
                     * @description null: the locale’s format
                     * @enum {string|null}
                     */
                    date_format?: "YYYY-MM-DD" | "MM/DD/YYYY" | "DD/MM/YYYY" | null;
                    /**
                     * @description null: the locale’s format
                     * @enum {string|null}
                     */
                    time_format?: "12h" | "24h" | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "locale": null,
                     *       "timezone": "Europe/Berlin",
                     *       "date_format": null,
                     *       "time_format": "24h"
                     *     }
                     */
                    "application/json": components["schemas"]["Preferences"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    changeOwnPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    current_password: string;
                    new_password: string;
                };
            };
        };
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listOwnSessions: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Session"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    endOwnOtherSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedSessions"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSecondFactors: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecondFactors"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    beginSecondFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    kind: "totp" | "passkey";
                    /** @description to know it again, such as `phone` */
                    name?: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BegunSecondFactor"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    confirmSecondFactor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description six digits, as the app shows them now */
                    totp?: string;
                    /** @description what `toJSON()` of the browser’s `PublicKeyCredential` returns */
                    passkey?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfirmedSecondFactor"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteSecondFactor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replaceRecoveryCodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewRecoveryCodes"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    endOwnSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description one bare e-mail address */
                    email: string;
                    name: string;
                    /** @description the names of system roles, the uuids of others; duplicates count once */
                    roles: string[];
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeInvitation"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listUserInvitations: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Invitation"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    inviteUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeInvitation"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    revokeInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                invitation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    setUserRoles: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description the names of system roles, the uuids of others; duplicates count once */
                    roles: string[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listGroups: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description `local`, `scim` or `identity_provider`; no groups match another text */
                source?: string;
                /** @description words, or beginnings of words, that the name all have; case and accents do not matter */
                q?: string;
                /** @description created at this moment or later */
                created_after?: string;
                /** @description created before this moment */
                created_before?: string;
                /** @description `created_at` where absent; `-` is descending */
                sort?: "created_at" | "-created_at" | "name" | "-name";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01a21c50-ec65-764e-a55e-f62a94ab4057",
                     *           "name": "Payments team",
                     *           "source": "local",
                     *           "member_count": 1,
                     *           "role_mappings": [],
                     *           "created_at": "2026-11-27T08:08:00.000Z",
                     *           "updated_at": "2026-11-27T08:08:00.000Z"
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Group"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createGroup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description need not be unique */
                    name: string;
                    description?: string;
                    /**
                     * Format: uuid
                     * @description the `id` in the sign-in settings: claims of the provider give the memberships, by `group_mappings` there, and nobody else does
                     */
                    sign_in_provider_id?: string;
                    /** @description false: a user who may decide a request by such groups alone is not notified of it. Emergencies notify every approver. */
                    members_notified?: boolean;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupDetail"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupDetail"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description need not be unique; must be a name that one can see, on one line, without control characters or marks that change the text direction; or the present value */
                    name?: string;
                    /** @description empty removes it */
                    description?: string;
                    /** @description false: a user who may decide a request by such groups alone is not notified of it. Emergencies notify every approver. */
                    members_notified?: boolean;
                    /** Format: uuid */
                    id?: string;
                    /**
                     * @description where it is managed: here (`local`), or in a directory only
                     * @enum {string}
                     */
                    source?: "local" | "scim" | "identity_provider";
                    member_count?: number;
                    role_mappings?: unknown;
                    /** Format: date-time */
                    created_at?: string;
                    /** Format: date-time */
                    updated_at?: string;
                    /**
                     * Format: uuid
                     * @description the sign-in provider whose claims give the memberships, if one does
                     */
                    sign_in_provider_id?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupDetail"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listGroupMembers: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["GroupMember"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    addGroupMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 01a21c50-ec65-764e-a55e-f62a94ab4057 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "user_id": "01a21c50-e88b-704a-b6ec-11410d168227"
                 *     }
                 */
                "application/json": {
                    /** Format: uuid */
                    user_id: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "group_id": "01a21c50-ec65-764e-a55e-f62a94ab4057",
                     *       "user_id": "01a21c50-e88b-704a-b6ec-11410d168227",
                     *       "membership_source": "local",
                     *       "created_at": "2026-11-27T08:09:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["GroupMember"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    removeGroupMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    setGroupRoleMappings: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description the names of system roles, the uuids of others; duplicates count once */
                    role_ids: string[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupDetail"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                identity_provider_id?: string;
                /** @description whether the key was revoked; an expired one need not be */
                revoked?: boolean;
                /** @description words, or beginnings of words, that the name all have; case and accents do not matter */
                q?: string;
                /** @description created at this moment or later */
                created_after?: string;
                /** @description created before this moment */
                created_before?: string;
                /** @description `-created_at` where absent; `-` is descending */
                sort?: "-created_at" | "created_at";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "01a21c50-ebcd-741c-a37d-d8dbfa095cd7",
                     *           "name": "nightly report",
                     *           "scopes": [
                     *             "requests:read"
                     *           ],
                     *           "created_by": "01a21c50-e7d7-7549-89ac-1020de732e64",
                     *           "last_used_at": null,
                     *           "expires_at": "2026-11-27T23:00:00.000Z",
                     *           "revoked_at": null,
                     *           "revoked_by": null,
                     *           "created_at": "2026-11-27T08:00:00.000Z"
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ApiKey"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /** @description required; at most the creator's own scopes. A SCIM key has only `scim:provision`, and may omit it */
                    scopes?: string[];
                    /**
                     * Format: date-time
                     * @description in the future; null or absent: none
                     */
                    expires_at?: string | null;
                    /**
                     * Format: uuid
                     * @description makes a SCIM key, which writes only the users of this provider
                     */
                    identity_provider_id?: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeApiKey"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 01a21c50-ebcd-741c-a37d-d8dbfa095cd7 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a21c50-ebcd-741c-a37d-d8dbfa095cd7",
                     *       "name": "nightly report",
                     *       "scopes": [
                     *         "requests:read"
                     *       ],
                     *       "created_by": "01a21c50-e7d7-7549-89ac-1020de732e64",
                     *       "last_used_at": null,
                     *       "expires_at": "2026-11-27T23:00:00.000Z",
                     *       "revoked_at": "2026-11-27T09:30:00.000Z",
                     *       "revoked_by": "01a21c50-e7d7-7549-89ac-1020de732e64",
                     *       "created_at": "2026-11-27T08:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSetting: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description a key from the list of settings */
                setting_key: "auth.allow_unverified_email" | "auth.claimed_groups_seconds" | "auth.password_min_length" | "auth.refresh_idle_seconds" | "auth.refresh_max_seconds" | "auth.second_factor_required" | "auth.session_idle_seconds" | "auth.session_max_seconds" | "locale.default" | "notifications.expiring_seconds" | "notifications.from_address" | "notifications.reminder_seconds" | "orphans.second_look_seconds" | "policies.trust_named_accounts" | "requests.default_duration_seconds" | "requests.max_duration_seconds" | "requests.pending_ttl_seconds" | "requests.require_reason" | "timezone.default";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setting"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    upsertSetting: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description a key from the list of settings
                 * @example requests.max_duration_seconds
                 */
                setting_key: "auth.allow_unverified_email" | "auth.claimed_groups_seconds" | "auth.password_min_length" | "auth.refresh_idle_seconds" | "auth.refresh_max_seconds" | "auth.second_factor_required" | "auth.session_idle_seconds" | "auth.session_max_seconds" | "locale.default" | "notifications.expiring_seconds" | "notifications.from_address" | "notifications.reminder_seconds" | "orphans.second_look_seconds" | "policies.trust_named_accounts" | "requests.default_duration_seconds" | "requests.max_duration_seconds" | "requests.pending_ttl_seconds" | "requests.require_reason" | "timezone.default";
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "value": "14400"
                 *     }
                 */
                "application/json": {
                    /** @description as text, in the form of the key: `3600`, `true`, `Europe/Berlin`; an error lists what a key takes */
                    value: string;
                    key?: string;
                    /** Format: date-time */
                    updated_at?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key": "requests.max_duration_seconds",
                     *       "value": "14400",
                     *       "updated_at": "2026-11-27T08:03:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Setting"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSettings: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Setting"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSignInSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInSetting"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateSignInSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description default: true */
                    enabled?: boolean;
                    /** @description exactly as the provider names itself: `https://id.example.com`, without credentials, a query or a fragment */
                    issuer: string;
                    client_id: string;
                    /** @description omitted or `[redacted]`: keeps the stored secret; null: none, the client is public */
                    client_secret?: string | null;
                    /** @description the addresses to which the provider may redirect users, compared exactly; each is https, or http on loopback */
                    redirect_uris: string[];
                    /** @description the scopes requested from the provider, with `openid`; default: `openid`, `email` and `profile` */
                    scopes?: string[];
                    /**
                     * @description whether addresses count as verified: as `email_verified` (or Entra’s `xms_edov`) says, always, or never; default: `claim`
                     * @enum {string}
                     */
                    email_trust?: "claim" | "always" | "never";
                    /**
                     * @description the claim that identifies a person; default: `sub`; for Entra: `oid`
                     * @enum {string}
                     */
                    subject_claim?: "sub" | "oid";
                    /** @description the claim whose values give groups, such as `groups`; omitted: the present one stays; null: none; must be one line, without control characters or marks that change the text direction; or the present value */
                    groups_claim?: string | null;
                    /** @description which values give which groups, as a whole; omitted: the present mappings stay */
                    group_mappings?: {
                        /** @description compared exactly */
                        value: string;
                        /**
                         * Format: uuid
                         * @description a group with the `sign_in_provider_id` of this provider
                         */
                        group_id: string;
                        /** @description as it was read; not taken */
                        in_effect?: boolean;
                    }[];
                    /**
                     * Format: uuid
                     * @description the directory whose users sign in by the provider: `subject_claim` equals their `externalId`, and nobody else begins; omitted: the present one stays; null: none
                     */
                    identity_provider_id?: string | null;
                    /**
                     * Format: uuid
                     * @description of the provider; it stays when the settings change
                     */
                    id?: string | null;
                    /** Format: date-time */
                    updated_at?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInSetting"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getAiProviderDefault: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AiProvider"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    setAiProviderDefault: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "provider_a"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type: "provider_a" | "provider_b" | "provider_c";
                    config?: unknown;
                    is_default?: boolean;
                    /** Format: date-time */
                    updated_at?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "type": "provider_a",
                     *       "config": {
                     *         "model": "large"
                     *       },
                     *       "is_default": true,
                     *       "updated_at": "2026-11-27T08:05:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["AiProvider"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getAiProvider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                type: "provider_a" | "provider_b" | "provider_c";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AiProvider"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    setAiProviderConfig: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                type: "provider_a" | "provider_b" | "provider_c";
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Every field that may be a secret is write-only and shown as `[redacted]`; send `[redacted]` to keep its value. An omitted field is removed. At most 64 KiB as JSON; a name of a field has at most 100 characters. */
                    config: {
                        [key: string]: unknown;
                    };
                    /** @enum {string} */
                    type?: "provider_a" | "provider_b" | "provider_c";
                    is_default?: boolean;
                    /** Format: date-time */
                    updated_at?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AiProvider"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listAiProviders: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AiProvider"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listCloudAccounts: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description words, or beginnings of words, that the name, the account number and the id all have; case and accents do not matter */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CloudAccount"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    upsertCloudAccounts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "resources": [
                 *         {
                 *           "id": "payments",
                 *           "name": "Payments",
                 *           "account_id": "123456789012",
                 *           "metadata": {
                 *             "env": "production"
                 *           },
                 *           "rank": 1
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    resources: components["schemas"]["CloudAccountInput"][];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "upserted": 1
                     *     }
                     */
                    "application/json": {
                        /** @description how many entries were inserted or updated */
                        upserted: number;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createEmailChannel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "On call",
                 *       "to_addresses": [
                 *         "oncall@acme.example"
                 *       ],
                 *       "event_filters": [
                 *         "request.created"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description for people; need not be unique */
                    name: string;
                    /** @description true when absent */
                    enabled?: boolean;
                    /** @description empty: every event */
                    event_filters?: ("request.created" | "request.approved" | "request.denied" | "request.expired" | "request.cancelled" | "request.commented" | "request.reminded" | "request.unapprovable" | "request.break_glass" | "grant.activated" | "grant.expiring" | "grant.expired" | "grant.revoked" | "grant.failed" | "grant.drifted" | "grant.credentials_issued" | "grant.objects_left" | "provisioner.drifted" | "provisioner.orphans_held_back" | "provisioner.orphan_ending" | "provisioner.orphan_ended" | "policy.created" | "policy.updated" | "policy.deleted" | "policy.reordered" | "policy.cases_changed" | "action.described" | "action.description_removed" | "role.created" | "role.updated" | "role.deleted" | "role.assigned" | "group.created" | "group.updated" | "group.deleted" | "group.member_added" | "group.member_removed" | "group.role_mappings_changed" | "user.created" | "user.invited" | "user.invitation_revoked" | "user.joined" | "user.linked" | "user.updated" | "user.deactivated" | "user.reactivated" | "user.suspended" | "user.unsuspended" | "user.access_ended" | "user.refresh_token_reused" | "user.removal_refused" | "user.deleted" | "api_key.created" | "api_key.revoked" | "setting.updated" | "cloud_accounts.updated" | "cloud_accounts.discovered" | "notification_channel.created" | "notification_channel.updated" | "notification_channel.deleted" | "notification_channel.disabled" | "notification_channel.secret_rotated" | "identity_provider.created" | "identity_provider.updated" | "identity_provider.deleted" | "identity_provider.conflict_found" | "identity_provider.conflict_settled" | "identity_provider.mass_removal" | "identity_provider.sync_requested" | "identity_provider.synced" | "identity_provider.sync_failed" | "provisioner.contested" | "provisioner.claimed" | "provisioner.created" | "provisioner.updated" | "provisioner.deleted" | "provisioner.tested" | "provisioner.secret_rotated")[];
                    /** @description each entry is one plain address; no address twice, in no spelling */
                    to_addresses: string[];
                    /** @description one address, in place of the tenant's `notifications.from_address` */
                    from_address?: string;
                    /** @description put before the subject of every mail */
                    subject_prefix?: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a21c50-ebc2-7600-a4d2-fdbd3be076a2",
                     *       "name": "On call",
                     *       "event_filters": [
                     *         "request.created"
                     *       ],
                     *       "enabled": true,
                     *       "created_at": "2026-11-27T08:04:00.000Z",
                     *       "updated_at": "2026-11-27T08:04:00.000Z",
                     *       "channel_type": "email",
                     *       "config": {
                     *         "to_addresses": [
                     *           "oncall@acme.example"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SavedEmailChannel"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createWebhookChannel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description for people; need not be unique */
                    name: string;
                    /** @description true when absent */
                    enabled?: boolean;
                    /** @description empty: every event */
                    event_filters?: ("request.created" | "request.approved" | "request.denied" | "request.expired" | "request.cancelled" | "request.commented" | "request.reminded" | "request.unapprovable" | "request.break_glass" | "grant.activated" | "grant.expiring" | "grant.expired" | "grant.revoked" | "grant.failed" | "grant.drifted" | "grant.credentials_issued" | "grant.objects_left" | "provisioner.drifted" | "provisioner.orphans_held_back" | "provisioner.orphan_ending" | "provisioner.orphan_ended" | "policy.created" | "policy.updated" | "policy.deleted" | "policy.reordered" | "policy.cases_changed" | "action.described" | "action.description_removed" | "role.created" | "role.updated" | "role.deleted" | "role.assigned" | "group.created" | "group.updated" | "group.deleted" | "group.member_added" | "group.member_removed" | "group.role_mappings_changed" | "user.created" | "user.invited" | "user.invitation_revoked" | "user.joined" | "user.linked" | "user.updated" | "user.deactivated" | "user.reactivated" | "user.suspended" | "user.unsuspended" | "user.access_ended" | "user.refresh_token_reused" | "user.removal_refused" | "user.deleted" | "api_key.created" | "api_key.revoked" | "setting.updated" | "cloud_accounts.updated" | "cloud_accounts.discovered" | "notification_channel.created" | "notification_channel.updated" | "notification_channel.deleted" | "notification_channel.disabled" | "notification_channel.secret_rotated" | "identity_provider.created" | "identity_provider.updated" | "identity_provider.deleted" | "identity_provider.conflict_found" | "identity_provider.conflict_settled" | "identity_provider.mass_removal" | "identity_provider.sync_requested" | "identity_provider.synced" | "identity_provider.sync_failed" | "provisioner.contested" | "provisioner.claimed" | "provisioner.created" | "provisioner.updated" | "provisioner.deleted" | "provisioner.tested" | "provisioner.secret_rotated")[];
                    /** @description the https address of your receiver, without a query; http and internal addresses only when `EGRESS_ALLOW` lists them */
                    url: string;
                    /** @description additional headers of each message, such as a gateway’s key, but none that Sallyport sets itself; write-only, and replaced as a whole */
                    headers?: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookChannelWithSecret"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listNotificationChannels: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                enabled?: boolean;
                /** @description words, or beginnings of words, that the name all have; case and accents do not matter */
                q?: string;
                /** @description created at this moment or later */
                created_after?: string;
                /** @description created before this moment */
                created_before?: string;
                /** @description `created_at` where absent; `-` is descending */
                sort?: "created_at" | "-created_at" | "name" | "-name";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["NotificationChannel"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getNotificationChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationChannel"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteNotificationChannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateNotificationChannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description for people; need not be unique; must be a name that one can see, on one line, without control characters or marks that change the text direction; or the present value */
                    name?: string;
                    enabled?: boolean;
                    /** @description empty: every event */
                    event_filters?: ("request.created" | "request.approved" | "request.denied" | "request.expired" | "request.cancelled" | "request.commented" | "request.reminded" | "request.unapprovable" | "request.break_glass" | "grant.activated" | "grant.expiring" | "grant.expired" | "grant.revoked" | "grant.failed" | "grant.drifted" | "grant.credentials_issued" | "grant.objects_left" | "provisioner.drifted" | "provisioner.orphans_held_back" | "provisioner.orphan_ending" | "provisioner.orphan_ended" | "policy.created" | "policy.updated" | "policy.deleted" | "policy.reordered" | "policy.cases_changed" | "action.described" | "action.description_removed" | "role.created" | "role.updated" | "role.deleted" | "role.assigned" | "group.created" | "group.updated" | "group.deleted" | "group.member_added" | "group.member_removed" | "group.role_mappings_changed" | "user.created" | "user.invited" | "user.invitation_revoked" | "user.joined" | "user.linked" | "user.updated" | "user.deactivated" | "user.reactivated" | "user.suspended" | "user.unsuspended" | "user.access_ended" | "user.refresh_token_reused" | "user.removal_refused" | "user.deleted" | "api_key.created" | "api_key.revoked" | "setting.updated" | "cloud_accounts.updated" | "cloud_accounts.discovered" | "notification_channel.created" | "notification_channel.updated" | "notification_channel.deleted" | "notification_channel.disabled" | "notification_channel.secret_rotated" | "identity_provider.created" | "identity_provider.updated" | "identity_provider.deleted" | "identity_provider.conflict_found" | "identity_provider.conflict_settled" | "identity_provider.mass_removal" | "identity_provider.sync_requested" | "identity_provider.synced" | "identity_provider.sync_failed" | "provisioner.contested" | "provisioner.claimed" | "provisioner.created" | "provisioner.updated" | "provisioner.deleted" | "provisioner.tested" | "provisioner.secret_rotated")[];
                    /** @description each entry is one plain address; no address twice, in no spelling */
                    to_addresses?: string[];
                    /** @description one address, in place of the tenant's `notifications.from_address` */
                    from_address?: string | null;
                    /** @description put before the subject of every mail */
                    subject_prefix?: string | null;
                    /** @description the https address of your receiver, without a query; http and internal addresses only when `EGRESS_ALLOW` lists them */
                    url?: string;
                    /** @description additional headers of each message, such as a gateway’s key, but none that Sallyport sets itself; write-only, and replaced as a whole */
                    headers?: {
                        [key: string]: string;
                    } | null;
                    /** Format: uuid */
                    id?: string;
                    /** Format: date-time */
                    created_at?: string;
                    /** Format: date-time */
                    updated_at?: string;
                    /** @enum {string} */
                    channel_type?: "email" | "webhook";
                    config?: unknown;
                    /**
                     * Format: date-time
                     * @description until when messages also carry the signature of the previous secret
                     */
                    previous_secret_until?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedNotificationChannel"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    testNotificationChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: the work follows */
            202: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deliveries: components["schemas"]["Delivery"][];
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                status?: "pending" | "delivered" | "failed";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Delivery"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resendDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: the work follows */
            202: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    rotateChannelSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description how long the previous secrets stay valid; a day when absent; use 0 when they have leaked */
                    overlap_seconds?: number;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookChannelWithSecret"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listIdentityProviders: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                enabled?: boolean;
                /** @description words, or beginnings of words, that the name all have; case and accents do not matter */
                q?: string;
                /** @description created at this moment or later */
                created_after?: string;
                /** @description created before this moment */
                created_before?: string;
                /** @description `created_at` where absent; `-` is descending */
                sort?: "created_at" | "-created_at" | "name" | "-name";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["IdentityProvider"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createIdentityProvider: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description a display name; need not be unique */
                    name: string;
                    /** @enum {string} */
                    provider_type: "cloud_identity_center" | "directory_a" | "directory_b" | "directory_c" | "chat_service" | "code_hosting" | "incident_service" | "custom_scim";
                    /** @description Every field that may be a secret is write-only and shown as `[redacted]`; send `[redacted]` to keep its value. An omitted field is removed. 64 KiB at most. */
                    config?: {
                        [key: string]: unknown;
                    };
                    /** @description default: true */
                    enabled?: boolean;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityProvider"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getIdentityProvider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 01a21c50-ecb5-74b5-b980-63999e10cc1c */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a21c50-ecb5-74b5-b980-63999e10cc1c",
                     *       "name": "Directory",
                     *       "provider_type": "custom_scim",
                     *       "config": {},
                     *       "enabled": true,
                     *       "last_synced_at": null,
                     *       "sync_status": "pending",
                     *       "sync_error": null,
                     *       "created_at": "2026-11-27T08:10:00.000Z",
                     *       "updated_at": "2026-11-27T08:10:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["IdentityProvider"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteIdentityProvider: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateIdentityProvider: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description a display name; need not be unique; must be a name that one can see, on one line, without control characters or marks that change the text direction; or the present value */
                    name?: string;
                    /** @description Every field that may be a secret is write-only and shown as `[redacted]`; send `[redacted]` to keep its value. An omitted field is removed. 64 KiB at most. */
                    config?: {
                        [key: string]: unknown;
                    };
                    enabled?: boolean;
                    /** Format: uuid */
                    id?: string;
                    /**
                     * @description never changes
                     * @enum {string}
                     */
                    provider_type?: "cloud_identity_center" | "directory_a" | "directory_b" | "directory_c" | "chat_service" | "code_hosting" | "incident_service" | "custom_scim";
                    /** Format: date-time */
                    last_synced_at?: string | null;
                    /**
                     * @description of a directory that pushes: `synced` once it has called
                     * @enum {string}
                     */
                    sync_status?: "pending" | "syncing" | "synced" | "failed";
                    sync_error?: string | null;
                    /** Format: date-time */
                    created_at?: string;
                    /** Format: date-time */
                    updated_at?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityProvider"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    syncIdentityProvider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description reads the directory and says what would change; default: `dry_run` of the config. Not beside a confirmation */
                    dry_run?: boolean;
                    /**
                     * Format: uuid
                     * @description a run that `needs_confirmation`: those whom it would have removed may go
                     */
                    confirm_removals_of?: string;
                };
            };
        };
        responses: {
            /** @description Accepted: the work follows */
            202: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SyncRun"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSyncRuns: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SyncRun"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSyncRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SyncRunDetail"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSyncChanges: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                kind?: "user" | "group";
                change?: "add" | "adopt" | "change" | "enable" | "disable" | "absent" | "settle" | "left_out" | "invalid" | "empty";
                outcome?: "planned" | "done" | "refused" | "none";
            };
            header?: never;
            path: {
                id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SyncChange"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    preflightIdentityProvider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    people: {
                        /** @description the `userName` that the directory will send */
                        user_name: string;
                        /** @description the `externalId` that it will send */
                        external_id?: string | null;
                        /** @description left out: `user_name`, where that is an address */
                        email?: string | null;
                    }[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preflight"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listConflicts: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DirectoryConflict"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    settleConflict: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                conflict_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: uuid
                     * @description the user whom the directory manages from now on; null: nobody, they are kept apart
                     */
                    user_id: string | null;
                    /** @description with `user_id` null, where the user here is one whom this directory has stopped: deletes them, so that the address is free */
                    delete_user?: boolean;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettledConflict"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listProvisioners: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                enabled?: boolean;
                /** @description words, or beginnings of words, that the name all have; case and accents do not matter */
                q?: string;
                /** @description created at this moment or later */
                created_after?: string;
                /** @description created before this moment */
                created_before?: string;
                /** @description `created_at` where absent; `-` is descending */
                sort?: "created_at" | "-created_at" | "name" | "-name";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Provisioner"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createProvisioner: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description for people; need not be unique */
                    name: string;
                    /** @enum {string} */
                    provisioner_type: "sandbox" | "postgresql" | "webhook" | "aws-identity-center";
                    /** @description The config of the type. A field that may be secret is write-only and shown as `[redacted]`; a field sent as that stays unchanged. An absent field is removed, except for generated secrets. At most 64 KiB. */
                    config?: {
                        [key: string]: unknown;
                    };
                    /** @description no account and no id twice for a type; at most 1,000 of both in all */
                    serves?: {
                        /**
                         * @description permission sets and organizational units are given on accounts: `cloud_account` serves them
                         * @enum {string}
                         */
                        resource_type: "cloud_account" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance";
                        /** @description the accounts in which it serves the type; when absent, every account that no other line names */
                        account_ids?: string[];
                        /** @description in place of `account_ids`: the ids that it serves, whatever serves their account. `*` stands for any characters; of several that match an id, the one without `*` counts, and else the one with the most other characters */
                        resource_ids?: string[];
                    }[];
                    /** @description a disabled provisioner gives no access, and still removes access. Absent: true, unless its test has first to find what the config leaves out */
                    enabled?: boolean;
                    /** @description true: access that was removed or added at the target by hand is corrected, not only reported */
                    corrects_drift?: boolean;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProvisionerWithSecrets"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getProvisioner: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Provisioner"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteProvisioner: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateProvisioner: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description for people; need not be unique; must be a name that one can see, on one line, without control characters or marks that change the text direction; or the present value */
                    name?: string;
                    /** @description The config of the type. A field that may be secret is write-only and shown as `[redacted]`; a field sent as that stays unchanged. An absent field is removed, except for generated secrets. At most 64 KiB. */
                    config?: {
                        [key: string]: unknown;
                    };
                    /** @description no account and no id twice for a type; at most 1,000 of both in all */
                    serves?: {
                        /**
                         * @description permission sets and organizational units are given on accounts: `cloud_account` serves them
                         * @enum {string}
                         */
                        resource_type: "cloud_account" | "cloud_storage_bucket" | "cloud_db_instance" | "cloud_compute_instance";
                        /** @description the accounts in which it serves the type; when absent, every account that no other line names */
                        account_ids?: string[];
                        /** @description in place of `account_ids`: the ids that it serves, whatever serves their account. `*` stands for any characters; of several that match an id, the one without `*` counts, and else the one with the most other characters */
                        resource_ids?: string[];
                    }[];
                    enabled?: boolean;
                    /** @description true: access that was removed or added at the target by hand is corrected, not only reported */
                    corrects_drift?: boolean;
                    /** Format: uuid */
                    id?: string;
                    /**
                     * @description never changes
                     * @enum {string}
                     */
                    provisioner_type?: "sandbox" | "postgresql" | "webhook" | "aws-identity-center";
                    /**
                     * @description of the tenant. In rehearsal, what no provisioner serves is simulated; in a live tenant nothing is
                     * @enum {string}
                     */
                    mode?: "rehearsal" | "live";
                    /** @description increases by one at each change */
                    version?: number;
                    /**
                     * Format: date-time
                     * @description until when the secrets from before the last rotation are valid beside the new ones
                     */
                    previous_secrets_until?: string | null;
                    claim?: unknown;
                    warnings?: unknown;
                    health?: unknown;
                    /** Format: date-time */
                    created_at?: string;
                    /** Format: date-time */
                    updated_at?: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Provisioner"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    testProvisioner: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProvisionerTestResult"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    rotateProvisionerSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description how long the previous secrets stay valid; a day when absent; use 0 when they have leaked */
                    overlap_seconds?: number;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProvisionerWithSecrets"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listOrphans: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Orphan"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    endOrphan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                orphan_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Orphan"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    reportAccessResult: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @constant */
                    type: "access.result";
                    data: {
                        /** @description the `webhook-id` of the message that requested the act */
                        id: string;
                        /** @enum {string} */
                        status: "done" | "failed";
                        /** @description why it failed */
                        message?: string | null;
                        /** @description how the holder connects, in the form that the guide of the webhook shows */
                        connect?: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getInventory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Inventory"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    refreshInventory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: the work follows */
            202: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Inventory"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listUnmatchedUsers: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["UnmatchedUser"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listStandingAccess: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description the number of the account */
                account_id?: string;
                /** @description the id of a person in the directory: what they hold, themselves and by groups */
                person_id?: string;
                /** @description the id or the name of the permission set */
                permission_set?: string;
                /** @description true: only sets that make an administrator */
                administrators?: boolean;
                /** @description `account` where absent: by the number of the account; `person`: by the name of the holder */
                order?: "account" | "person";
                /** @description words, or beginnings of words, that the account, the permission set, the holder and the group all have; case and accents do not matter */
                q?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["StandingAccess"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    exportStandingAccess: {
        parameters: {
            query?: {
                /** @description the number of the account */
                account_id?: string;
                /** @description the id of a person in the directory: what they hold, themselves and by groups */
                person_id?: string;
                /** @description the id or the name of the permission set */
                permission_set?: string;
                /** @description true: only sets that make an administrator */
                administrators?: boolean;
                /** @description `account` where absent: by the number of the account; `person`: by the name of the holder */
                order?: "account" | "person";
                /** @description words, or beginnings of words, that the account, the permission set, the holder and the group all have; case and accents do not matter */
                q?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A table (RFC 4180) with the properties of the object as its columns; the object is one of its lines */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    /** @description the name under which a browser saves it */
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": components["schemas"]["StandingAccessLine"] | string;
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRehearsal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Rehearsal"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createRehearsal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Rehearsal"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createRehearsalToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** Format: uuid */
                    user_id: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    goLive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description the name of the tenant */
                    confirm: string;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Live"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listNotifications: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description true: only those not read yet; false: only those read */
                unread?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Notification"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    streamNotifications: {
        parameters: {
            query?: never;
            header?: {
                /** @description the last `id` that the client received: what came after it is sent first */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream of events; the object is the `data` of each */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["Notification"] | string;
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getOwnNotificationPreferences: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationPreferences"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    setOwnNotificationPreferences: {
        parameters: {
            query?: never;
            header?: {
                /** @description the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description the whole choice: a kind that is left out is as it is by default */
                    kinds: {
                        /** @description a request waits for your decision; mailed by default */
                        decision_needed?: {
                            mail: boolean;
                        };
                        /** @description a user took access in an emergency, without an approver; mailed by default */
                        emergency?: {
                            mail: boolean;
                        };
                        /** @description your request was approved or denied, has expired, or was cancelled; mailed by default */
                        request_decided?: {
                            mail: boolean;
                        };
                        /** @description a comment on your request, or by its requester on a request that you may decide; mailed by default */
                        comment?: {
                            mail: boolean;
                        };
                        /** @description your access has begun, and how to connect; mailed by default */
                        access_active?: {
                            mail: boolean;
                        };
                        /** @description your access ends soon; mailed by default */
                        access_ending?: {
                            mail: boolean;
                        };
                        /** @description your access was ended before its time; mailed by default */
                        access_revoked?: {
                            mail: boolean;
                        };
                        /** @description your access has ended on time; not mailed by default */
                        access_ended?: {
                            mail: boolean;
                        };
                        /** @description your access could not be given or taken away, or was changed at its target by hand; mailed by default */
                        access_failed?: {
                            mail: boolean;
                        };
                        /** @description something that you administer needs you; mailed by default */
                        administration?: {
                            mail: boolean;
                        };
                        /** @description a refresh token of yours was used twice, or a user of your tenant was suspended; mailed by default */
                        security?: {
                            mail: boolean;
                        };
                    };
                    mail?: unknown;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationPreferences"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    streamChanges: {
        parameters: {
            query?: never;
            header?: {
                /** @description the last `id` that the client received: what came after it is sent first */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream of events; the object is the `data` of each */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": (components["schemas"]["RecordHint"] | components["schemas"]["Notification"]) | string;
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    markNotificationRead: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example 01a21c50-edf5-7706-b087-934286024407 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01a21c50-edf5-7706-b087-934286024407",
                     *       "event_type": "request.approved",
                     *       "title": "Ben approved ReadOnlyAccess on account Payments (123456789012) for Ada",
                     *       "body": "Ben approved ReadOnlyAccess on account Payments (123456789012) for 1 h for Ada. Reason: “look at the logs”. Note: “go ahead”. The access begins once its target has confirmed it; its time is counted from then.",
                     *       "resource_type": "access_request",
                     *       "resource_id": "01a21c50-ecfb-767e-961f-1d1e40abf60f",
                     *       "created_at": "2026-11-27T09:05:00.000Z",
                     *       "read_at": "2026-11-27T09:06:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Notification"];
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    markAllNotificationsRead: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description how many were unread */
                        updated: number;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listAuditEvents: {
        parameters: {
            query?: {
                /** @description items per page; 50 when absent; more than 200 count as 200 */
                limit?: number;
                /** @description `next_cursor` of the previous page */
                cursor?: string;
                /** @description several are separated by commas */
                type?: ("request.created" | "request.approved" | "request.denied" | "request.expired" | "request.cancelled" | "request.commented" | "request.reminded" | "request.unapprovable" | "request.break_glass" | "grant.activated" | "grant.expiring" | "grant.expired" | "grant.revoked" | "grant.failed" | "grant.drifted" | "grant.credentials_issued" | "grant.objects_left" | "provisioner.drifted" | "provisioner.orphans_held_back" | "provisioner.orphan_ending" | "provisioner.orphan_ended" | "policy.created" | "policy.updated" | "policy.deleted" | "policy.rule_texts" | "policy.reordered" | "policy.cases_changed" | "action.described" | "action.description_removed" | "role.created" | "role.updated" | "role.deleted" | "role.assigned" | "group.created" | "group.updated" | "group.deleted" | "group.member_added" | "group.member_removed" | "group.role_mappings_changed" | "user.created" | "user.invited" | "user.invitation_revoked" | "user.joined" | "user.linked" | "user.updated" | "user.deactivated" | "user.reactivated" | "user.suspended" | "user.unsuspended" | "user.access_ended" | "user.refresh_token_reused" | "user.removal_refused" | "user.deleted" | "api_key.created" | "api_key.revoked" | "setting.updated" | "cloud_accounts.updated" | "cloud_accounts.discovered" | "notification_channel.created" | "notification_channel.updated" | "notification_channel.deleted" | "notification_channel.disabled" | "notification_channel.secret_rotated" | "identity_provider.created" | "identity_provider.updated" | "identity_provider.deleted" | "identity_provider.conflict_found" | "identity_provider.conflict_settled" | "identity_provider.mass_removal" | "identity_provider.sync_requested" | "identity_provider.synced" | "identity_provider.sync_failed" | "provisioner.contested" | "provisioner.claimed" | "provisioner.created" | "provisioner.updated" | "provisioner.deleted" | "provisioner.tested" | "provisioner.secret_rotated" | "notification_channel.tested" | "notification_channel.resent" | "policy.replayed" | "tenant.created" | "tenant.renamed" | "tenant.went_live" | "tenant.rehearsal_created" | "user.rehearsal_token_created" | "tenant.suspended" | "tenant.resumed" | "tenant.slug_set" | "tenant.slug_removed" | "tenant.events_dropped" | "tenant.mail_domain_added" | "tenant.mail_domain_removed" | "user.setup_link_created" | "user.set_up" | "user.password_reset" | "user.password_changed" | "user.second_factor_added" | "user.second_factor_removed" | "user.recovery_codes_replaced" | "user.second_factors_reset" | "grant.end_moved" | "grant.retried" | "request.refused" | "access.refused" | "auth.signed_in" | "auth.second_factor_required" | "auth.refused" | "auth.session_started" | "auth.refreshed" | "auth.signed_out")[];
                /** @description ids of users, or `me`; includes events by the users’ keys */
                actor?: string[];
                /** @description ids of the events’ subjects; several are separated by commas */
                subject?: string[];
                /** @description at this moment or later */
                from?: string;
                /** @description before this moment */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AuditEvent"][];
                        next_cursor?: string;
                        has_more: boolean;
                    };
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    exportAuditEvents: {
        parameters: {
            query?: {
                /** @description several are separated by commas */
                type?: ("request.created" | "request.approved" | "request.denied" | "request.expired" | "request.cancelled" | "request.commented" | "request.reminded" | "request.unapprovable" | "request.break_glass" | "grant.activated" | "grant.expiring" | "grant.expired" | "grant.revoked" | "grant.failed" | "grant.drifted" | "grant.credentials_issued" | "grant.objects_left" | "provisioner.drifted" | "provisioner.orphans_held_back" | "provisioner.orphan_ending" | "provisioner.orphan_ended" | "policy.created" | "policy.updated" | "policy.deleted" | "policy.rule_texts" | "policy.reordered" | "policy.cases_changed" | "action.described" | "action.description_removed" | "role.created" | "role.updated" | "role.deleted" | "role.assigned" | "group.created" | "group.updated" | "group.deleted" | "group.member_added" | "group.member_removed" | "group.role_mappings_changed" | "user.created" | "user.invited" | "user.invitation_revoked" | "user.joined" | "user.linked" | "user.updated" | "user.deactivated" | "user.reactivated" | "user.suspended" | "user.unsuspended" | "user.access_ended" | "user.refresh_token_reused" | "user.removal_refused" | "user.deleted" | "api_key.created" | "api_key.revoked" | "setting.updated" | "cloud_accounts.updated" | "cloud_accounts.discovered" | "notification_channel.created" | "notification_channel.updated" | "notification_channel.deleted" | "notification_channel.disabled" | "notification_channel.secret_rotated" | "identity_provider.created" | "identity_provider.updated" | "identity_provider.deleted" | "identity_provider.conflict_found" | "identity_provider.conflict_settled" | "identity_provider.mass_removal" | "identity_provider.sync_requested" | "identity_provider.synced" | "identity_provider.sync_failed" | "provisioner.contested" | "provisioner.claimed" | "provisioner.created" | "provisioner.updated" | "provisioner.deleted" | "provisioner.tested" | "provisioner.secret_rotated" | "notification_channel.tested" | "notification_channel.resent" | "policy.replayed" | "tenant.created" | "tenant.renamed" | "tenant.went_live" | "tenant.rehearsal_created" | "user.rehearsal_token_created" | "tenant.suspended" | "tenant.resumed" | "tenant.slug_set" | "tenant.slug_removed" | "tenant.events_dropped" | "tenant.mail_domain_added" | "tenant.mail_domain_removed" | "user.setup_link_created" | "user.set_up" | "user.password_reset" | "user.password_changed" | "user.second_factor_added" | "user.second_factor_removed" | "user.recovery_codes_replaced" | "user.second_factors_reset" | "grant.end_moved" | "grant.retried" | "request.refused" | "access.refused" | "auth.signed_in" | "auth.second_factor_required" | "auth.refused" | "auth.session_started" | "auth.refreshed" | "auth.signed_out")[];
                /** @description ids of users, or `me`; includes events by the users’ keys */
                actor?: string[];
                /** @description ids of the events’ subjects; several are separated by commas */
                subject?: string[];
                /** @description at this moment or later */
                from?: string;
                /** @description before this moment */
                to?: string;
                /** @description the id of the last event of an earlier export: continues after it, in the order of the commits */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lines of JSON; the object is one of them */
            200: {
                headers: {
                    /** @description the id of the request in the log */
                    "X-Request-Id"?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["AuditEvent"] | string;
                };
            };
            /** @description what is wrong, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
