// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {AddressKeys} from "../../src/libraries/AddressKeys.sol";
import {Trade} from "./Trade.sol";

/// @notice The rest of an escrow's life, and people who want what is not theirs.
abstract contract Handlers is Trade {
    // ---- escrows

    function bind(uint256 seed) external turn {
        if (entries.length == 0) return;
        Entry storage entry = _anEntry(seed);
        CommissionEscrow.Terms memory terms = entry.terms;
        uint256 agentId = buyerAgents[roll(seed, "agent", buyerAgents.length)];
        for (uint256 i = 0; i < buyers.length && roll(seed, "own", 4) != 0; ++i) {
            if (buyers[i].addr == terms.payer) agentId = buyerAgents[i];
        }
        bool expected =
            !escrow.paused() && !entry.settled && !entry.bound && identities.ownerOf(agentId) == terms.payer;
        bytes memory data = abi.encodeCall(escrow.bind, (terms, agentId));
        if (!act(Action.Bind, terms.payer, address(escrow), data, expected)) return;
        entry.bound = true;
        entry.terms.buyerAgentId = agentId;
    }

    function releaseCashback(uint256 seed) external turn {
        if (entries.length == 0) return;
        Entry storage entry = _anEntry(seed);
        bool expected = !escrow.paused() && !entry.settled && !entry.released && entry.bound;
        bytes memory data = abi.encodeCall(escrow.releaseCashback, (entry.terms));
        if (!act(Action.ReleaseCashback, oracle, address(escrow), data, expected)) return;
        entry.released = true;
        credit(entry.terms.payer, entry.terms.cashback);
    }

    function oracleSettle(uint256 seed) external turn {
        if (entries.length == 0) return;
        Entry storage entry = _anEntry(seed);
        _wait(seed, entry.terms.windowEnd);
        _oracleSettle(seed, entry);
    }

    /// @dev Some escrows, one of them twice, and one whose terms were altered: each alone is released or skipped.
    function releaseBatch(uint256 seed) external turn {
        if (entries.length == 0) return;
        uint256[4] memory picks = _somePicks(seed);
        CommissionEscrow.Terms[] memory batch = new CommissionEscrow.Terms[](5);
        for (uint256 i = 0; i < 4; ++i) batch[i] = entries[picks[i]].terms;
        batch[4] = _altered(entries[picks[0]].terms);
        bytes memory data = abi.encodeCall(escrow.releaseBatch, (batch));
        if (!act(Action.ReleaseCashback, oracle, address(escrow), data, !escrow.paused())) return;
        ++expectedSkips;
        for (uint256 i = 0; i < 4; ++i) {
            Entry storage entry = entries[picks[i]];
            if (!_count(Action.ReleaseInBatch, !entry.settled && !entry.released && entry.bound)) continue;
            entry.released = true;
            credit(entry.terms.payer, entry.terms.cashback);
        }
    }

    /// @dev The same with settlements. Of the one that is there twice, the first decides.
    function oracleSettleBatch(uint256 seed) external turn {
        if (entries.length == 0) return;
        uint256[4] memory picks = _somePicks(seed);
        _wait(seed, entries[picks[0]].terms.windowEnd);
        CommissionEscrow.Settlement[] memory batch = new CommissionEscrow.Settlement[](5);
        for (uint256 i = 0; i < 4; ++i) {
            batch[i] = CommissionEscrow.Settlement(entries[picks[i]].terms, seed >> i & 1 == 0, seed >> (8 + i) & 1 == 0);
        }
        batch[4] = CommissionEscrow.Settlement(_altered(entries[picks[0]].terms), false, false);
        bytes memory data = abi.encodeCall(escrow.settleBatch, (batch));
        if (!act(Action.OracleSettle, oracle, address(escrow), data, !escrow.paused())) return;
        ++expectedSkips;
        for (uint256 i = 0; i < 4; ++i) {
            Entry storage entry = entries[picks[i]];
            bool expected =
                !entry.settled && clock >= entry.terms.windowEnd && (!batch[i].cashbackEarned || entry.bound);
            if (!_count(Action.OracleSettleInBatch, expected)) continue;
            bookSettlement(entry, batch[i].contradicted, batch[i].cashbackEarned);
        }
    }

    /// @dev A public registry of identities no longer tells wallets, for good or for a moment. Nobody buys then; what an agent is due
    /// waits for it, and only its owner can have it meanwhile.
    function loseWallets(uint256 seed) external turn {
        vm.mockCallRevert(address(identities), abi.encodeWithSelector(identities.getAgentWallet.selector), "gone");
        walletsUnknown = true;
        settleAs(Action.Settle, settler, aPurchase(seed, SplitRouter.AuthorizationType.Receive));
        uint256 second = roll(seed, "second", type(uint256).max);
        settleAs(Action.SettleCommitted, anAccount(second), aPurchase(second, SplitRouter.AuthorizationType.Receive));
        for (uint256 i = 0; i < entries.length; ++i) {
            if (entries[i].settled || clock < entries[i].terms.windowEnd) continue;
            if (roll(seed, "fallback", 2) == 0) settleFallbackOf(entries[i], stranger);
            _oracleSettle(seed, entries[i]);
            break;
        }
        _claimForAgent(seed);
        vm.clearMockedCalls();
        walletsUnknown = false;
    }

    /// @dev By its owner or by a stranger, who can make it go only to whom the registry names.
    function _claimForAgent(uint256 seed) private {
        if (waitedFor.length == 0) return;
        uint256 agentId = waitedFor[roll(seed, "agent", waitedFor.length)];
        address owner = identities.ownerOf(agentId);
        address caller = roll(seed, "owner", 3) == 0 ? owner : anAttacker(seed);
        address payee = walletsUnknown ? owner : payeeOf(agentId);
        bool expected = waiting[agentId] != 0 && (!walletsUnknown || caller == owner);
        bytes memory data = abi.encodeCall(escrow.claimForAgent, (agentId));
        if (!act(Action.ClaimForAgent, caller, address(escrow), data, expected)) return;
        credit(payee, waiting[agentId]);
        waiting[agentId] = 0;
    }

    function claimForAgent(uint256 seed) external turn {
        _claimForAgent(seed);
    }

    /// @dev A pause that may last longer than the oracle has time: nobody loses by it.
    function pauseForLong(uint256 seed) external turn {
        if (entries.length == 0 || roll(seed, "rarely", 3) != 0) return;
        Entry storage entry = _anEntry(seed);
        if (!escrow.paused()) pauseEscrowNow();
        if (arrived.length != 0) takeArrivedBack(arrived[preferOpen(seed, arrived.length, true)]);
        if (deposits.length != 0) takeDepositBack(deposits[preferOpen(seed, deposits.length, false)]);
        uint256 until = entry.terms.windowEnd + roll(seed, "until", 20 days);
        if (until > clock) clock = until;
        vm.warp(clock);
        settleFallbackOf(entry, anAccount(seed));
        resumeEscrow();
        settleFallbackOf(entry, anAccount(seed));
        _wait(seed, fallbackFrom(entry));
        settleFallbackOf(entry, anAccount(seed));
    }

    function settleFallback(uint256 seed) external turn {
        if (entries.length == 0) return;
        Entry storage entry = _anEntry(seed);
        _wait(seed, fallbackFrom(entry));
        settleFallbackOf(entry, anAccount(seed));
    }

    /// @dev Nobody gets past the digest with terms that were never published, not even those with roles.
    function tamper(uint256 seed) external turn {
        if (entries.length == 0) return;
        CommissionEscrow.Terms memory terms = _anEntry(seed).terms;
        bytes32 untouched = keccak256(abi.encode(terms));
        uint256 what = roll(seed, "what", 7);
        if (what == 0) terms.heldBack += 1;
        else if (what == 1) terms.cashback += 1 + terms.heldBack;
        else if (what == 2) terms.payer = anAttacker(seed);
        else if (what == 3) terms.windowEnd = 0;
        else if (what == 4) terms.reviewerAgentId = attackerAgent;
        else if (what == 5) terms.nonce = bytes32(seed);
        else terms.escrowId += 1;
        if (keccak256(abi.encode(terms)) == untouched) return;
        act(Action.Attack, oracle, address(escrow), abi.encodeCall(escrow.settle, (terms, false, false)), false);
        act(Action.Attack, oracle, address(escrow), abi.encodeCall(escrow.releaseCashback, (terms)), false);
        act(Action.Attack, anAttacker(seed), address(escrow), abi.encodeCall(escrow.settleFallback, (terms)), false);
        act(Action.Attack, terms.payer, address(escrow), abi.encodeCall(escrow.bind, (terms, attackerAgent)), false);
    }

    function publish(uint256 seed) external turn {
        if (entries.length == 0) return;
        Entry storage entry = _anEntry(seed);
        address owner = entry.bound ? identities.ownerOf(entry.terms.buyerAgentId) : entry.terms.payer;
        // An escrow that knows nothing of the purchase proves nothing, even while it bears the name.
        bytes memory data = abi.encodeCall(reviews.publishWithEscrow, (successor, entry.terms, bytes32(seed)));
        act(Action.Attack, owner, address(reviews), data, false);
        data = abi.encodeCall(reviews.publishWithEscrow, (escrow, entry.terms, bytes32(seed)));
        if (!act(Action.Publish, owner, address(reviews), data, entry.bound && !entry.reviewed)) return;
        entry.reviewed = true;
        ++reviewCount;
    }

    function collectFees(uint256 seed) external turn {
        act(Action.CollectFees, anAccount(seed), address(escrow), abi.encodeCall(escrow.collectFees, ()), true);
        credit(treasury, fees);
        fees = 0;
    }

    /// @dev Works while the escrow is paused, for everybody whom the token does not refuse, and by anybody.
    function claim(uint256 seed) external turn {
        address target = roll(seed, "where", 2) == 0 ? address(router) : address(escrow);
        address account = anAccount(seed);
        for (uint256 i = 0; i < accounts.length && _claimable(target, account) == 0; ++i) account = accounts[i];
        bool expected = _claimable(target, account) != 0 && !usdc.paused() && !usdc.isBlacklisted(account);
        act(Action.Claim, anAttacker(seed), target, abi.encodeCall(router.claim, (account)), expected);
    }

    function donate(uint256 seed) external turn {
        address giver = anAttacker(seed);
        address target = roll(seed, "where", 2) == 0 ? address(router) : address(escrow);
        bool expected = !usdc.paused() && !usdc.isBlacklisted(giver);
        uint256 amount = roll(seed, "amount", 1_000_000);
        if (!act(Action.Donate, giver, address(usdc), abi.encodeCall(usdc.transfer, (target, amount)), expected)) return;
        wealth[giver] -= amount;
        credit(target, amount);
    }

    // ---- attackers

    /// @dev Buying with one's own money on terms of one's own choosing is allowed, also from oneself and by a wallet that signs anything.
    function buyAsAttacker(uint256 seed) external turn {
        SplitRouter.Attribution memory a = anAttribution(seed, 0);
        if (roll(seed, "own shop", 2) == 0) a.merchantId = attackerMerchant;
        if (a.merchantId == attackerMerchant) a.productId = PRODUCT;
        if (roll(seed, "own review", 2) == 0) a.reviewerAgentId = attackerAgent;
        a.reviewId = reviewBy[a.reviewerAgentId][a.merchantId];
        if (a.reviewId == 0) a.reviewId = 1;
        if (roll(seed, "own agent", 2) == 0) a.buyerAgentId = attackerAgent;
        bytes32 nonce = router.attributionNonce(a);
        Wallet memory payer = attackers[roll(seed, "payer", 2)];
        SplitRouter.Purchase memory purchase =
            signPurchase(payer, aPrice(seed, a), SplitRouter.AuthorizationType.Receive, a, nonce);
        if (roll(seed, "wallet", 2) == 0) {
            purchase.authorization.from = address(yesWallet);
            purchase.authorization.signature = "yes";
        }
        settleAs(Action.AttackerBuys, anAttacker(seed), purchase);
    }

    /// @dev A purchase in another agent's name would be a record of that agent, and for its owner to review. The settler would ask the
    /// agent; where nobody does, the same purchase passes only in nobody's name.
    function buyInAnothersName(uint256 seed) external turn {
        address attacker = anAttacker(seed);
        Wallet memory payer = attackers[roll(seed, "payer", 2)];
        SplitRouter.Attribution memory a = anAttribution(seed, 0);
        uint256 whose = roll(seed, "whose", 3);
        if (whose == 0) a.buyerAgentId = 1_000_000;
        else if (whose == 1) a.buyerAgentId = reviewerAgents[roll(seed, "victim", 2)];
        else a.buyerAgentId = buyerAgents[roll(seed, "victim", buyerAgents.length)];
        uint256 price = aPrice(seed, a);
        SplitRouter.Purchase[] memory batch = new SplitRouter.Purchase[](1);
        batch[0] = signPurchase(payer, price, SplitRouter.AuthorizationType.Receive, a, router.attributionNonce(a));
        _attack(attacker, address(router), abi.encodeCall(router.settle, (batch[0])));
        uint256 before = escrow.lastEscrowId();
        vm.prank(attacker);
        router.settleBatch(batch);
        if (escrow.lastEscrowId() != before) surprise(Action.SettleInBatch, "in another's name succeeded");
        a.buyerAgentId = escrow.AGENTLESS();
        settleAs(
            Action.AttackerBuys,
            attacker,
            signPurchase(payer, price, SplitRouter.AuthorizationType.Receive, a, router.attributionNonce(a))
        );
    }

    /// @dev Other people's payments.
    function attackRouter(uint256 seed) external turn {
        address attacker = anAttacker(seed);
        SplitRouter.Purchase memory purchase = aPurchase(seed, SplitRouter.AuthorizationType.Receive);
        // The attribution is not what the payer committed to.
        SplitRouter.Purchase memory bent = signed[roll(seed, "signed", signed.length)];
        bent.attribution.reviewerAgentId = attackerAgent;
        bent.attribution.reviewId = reviewBy[attackerAgent][merchantId];
        bent.attribution.merchantId = merchantId;
        _attack(attacker, address(router), abi.encodeCall(router.settle, (bent)));
        _attack(attacker, address(router), abi.encodeCall(router.settleOne, (purchase, true)));
        // The payer did not sign.
        uint256 whose = roll(seed, "whose", 3);
        purchase.authorization.from =
            whose == 0 ? address(router) : whose == 1 ? address(escrow) : owners[roll(seed, "owner", 3)].addr;
        purchase.authorization.nonce = router.attributionNonce(purchase.attribution);
        _attack(attacker, address(router), abi.encodeCall(router.settle, (purchase)));
        if (arrived.length != 0) {
            SplitRouter.Purchase memory waiting = arrived[roll(seed, "arrived", arrived.length)].purchase;
            _attack(attacker, address(router), abi.encodeCall(router.finish, (waiting)));
            SplitRouter.Authorization memory z = waiting.authorization;
            bytes memory permission = signPermission(attackers[0], z.from, z.nonce, z.value, 0);
            _attack(attacker, address(router), abi.encodeCall(router.takeBack, (z, 0, permission)));
            _attack(attacker, address(router), abi.encodeCall(router.settle, (waiting)));
        }
        if (deposits.length != 0) {
            Deposited memory made = deposits[roll(seed, "deposit", deposits.length)];
            _attack(attacker, address(router), abi.encodeCall(router.splitDeposit, (made.charge, made.attribution)));
            made.charge.payer = attacker;
            bytes memory permission =
                signPermission(attackers[0], attacker, router.chargeNonce(made.charge.txHash), made.charge.value, 0);
            _attack(
                attacker,
                address(router),
                abi.encodeCall(router.takeBackDeposit, (made.charge, made.attribution.buyerAgentId, 0, permission))
            );
        }
    }

    /// @dev Other people's escrows, merchants, identities and roles.
    function attackTheRest(uint256 seed) external turn {
        address attacker = anAttacker(seed);
        address victim = owners[roll(seed, "victim", 3)].addr;
        uint256 id = merchantIds[roll(seed, "merchant", 3)];
        CommissionEscrow.Terms memory terms;
        if (entries.length != 0) {
            Entry storage entry = _anEntry(seed);
            terms = entry.terms;
            _attack(attacker, address(escrow), abi.encodeCall(escrow.releaseCashback, (terms)));
            _attack(attacker, address(escrow), abi.encodeCall(escrow.settle, (terms, false, true)));
            _attackInBatch(attacker, terms);
            if (terms.payer != attacker) {
                _attack(attacker, address(escrow), abi.encodeCall(escrow.bind, (terms, attackerAgent)));
            }
            if (!entry.bound || identities.ownerOf(terms.buyerAgentId) != attacker) {
                _attack(
                    attacker, address(reviews), abi.encodeCall(reviews.publishWithEscrow, (escrow, terms, bytes32(seed)))
                );
            }
        }
        terms.buyerAgentId = attackerAgent;
        _attack(
            attackers[0].addr,
            address(reviews),
            abi.encodeCall(reviews.publishWithEscrow, (CommissionEscrow(address(yesEscrow)), terms, bytes32(seed)))
        );
        terms.payer = attacker;
        terms.nonce = bytes32(seed);
        _attack(attacker, address(escrow), abi.encodeCall(escrow.deposit, (terms, 1, 1, 0)));
        _attack(attacker, address(escrow), abi.encodeCall(escrow.pause, ()));
        _attack(attacker, address(escrow), abi.encodeCall(escrow.unpause, ()));
        _attack(attacker, address(merchants), abi.encodeCall(merchants.setPayoutWallet, (id, attacker)));
        _attack(attacker, address(merchants), abi.encodeCall(merchants.setActive, (id, false)));
        _attack(attacker, address(merchants), abi.encodeCall(merchants.setSuspended, (id, true)));
        _attack(attacker, address(merchants), abi.encodeCall(merchants.setProductTerms, (id, PRODUCT, 0, 0)));
        _attack(attacker, address(addresses), abi.encodeCall(addresses.setAddress, (AddressKeys.TREASURY, attacker)));
        _attack(attacker, address(addresses), abi.encodeCall(addresses.renounceOwnership, ()));
        _attack(admin, address(addresses), abi.encodeCall(addresses.renounceOwnership, ()));
        _attack(attacker, address(router), abi.encodeCall(router.grantRole, (keccak256("SETTLER_ROLE"), attacker)));
        _attack(attacker, address(escrow), abi.encodeCall(escrow.grantRole, (keccak256("ORACLE_ROLE"), attacker)));
        _attack(attacker, address(escrow), abi.encodeCall(escrow.beginDefaultAdminTransfer, (attacker)));
        _attack(attacker, address(usdc), abi.encodeCall(usdc.transferFrom, (address(router), attacker, 1)));
        _attack(attacker, address(usdc), abi.encodeCall(usdc.transferFrom, (victim, attacker, 1)));
        _attack(attacker, address(identities), abi.encodeCall(identities.transferFrom, (victim, attacker, id)));
        _attack(
            attacker,
            address(identities),
            abi.encodeCall(identities.unsetAgentWallet, (reviewerAgents[roll(seed, "reviewer", 2)]))
        );
    }

    /// @dev Nor by a batch, nor by what a batch calls for each of its escrows; not even the oracle calls that.
    function _attackInBatch(address attacker, CommissionEscrow.Terms memory terms) private {
        CommissionEscrow.Settlement[] memory settlements = new CommissionEscrow.Settlement[](1);
        settlements[0] = CommissionEscrow.Settlement(terms, false, true);
        CommissionEscrow.Terms[] memory releases = new CommissionEscrow.Terms[](1);
        releases[0] = terms;
        _attack(attacker, address(escrow), abi.encodeCall(escrow.settleBatch, (settlements)));
        _attack(attacker, address(escrow), abi.encodeCall(escrow.releaseBatch, (releases)));
        _attack(oracle, address(escrow), abi.encodeCall(escrow.settleOne, (settlements[0], oracle)));
        _attack(oracle, address(escrow), abi.encodeCall(escrow.releaseOne, (terms)));
    }

    // ---- the end

    /// @dev Whatever happened: once no obstacle is left, everybody can be paid, and what remains is nobody's.
    function windDown() external turn {
        clearTheWay();
        for (uint256 i = 0; i < arrived.length; ++i) if (!arrived[i].done) takeArrivedBack(arrived[i]);
        for (uint256 i = 0; i < deposits.length; ++i) if (!deposits[i].done) takeDepositBack(deposits[i]);
        clock += 71 days;
        vm.warp(clock);
        for (uint256 i = 0; i < entries.length; ++i) {
            if (!entries[i].settled) settleFallbackOf(entries[i], stranger);
        }
        act(Action.CollectFees, stranger, address(escrow), abi.encodeCall(escrow.collectFees, ()), true);
        credit(treasury, fees);
        fees = 0;
        for (uint256 i = 0; i < waitedFor.length; ++i) {
            if (waiting[waitedFor[i]] != 0) escrow.claimForAgent(waitedFor[i]);
            credit(payeeOf(waitedFor[i]), waiting[waitedFor[i]]);
            waiting[waitedFor[i]] = 0;
        }
        for (uint256 i = 0; i < accounts.length; ++i) {
            if (router.claimable(accounts[i]) != 0) router.claim(accounts[i]);
            if (escrow.claimable(accounts[i]) != 0) escrow.claim(accounts[i]);
            assertEq(usdc.balanceOf(accounts[i]), wealth[accounts[i]], "paid out");
        }
        assertEq(usdc.balanceOf(address(escrow)), surplus, "the escrow keeps donations only");
        assertEq(usdc.balanceOf(address(router)), strays, "the router keeps donations only");
    }

    // ---- inside

    function settleFallbackOf(Entry storage entry, address caller) internal {
        bool expected = !escrow.paused() && !entry.settled && clock >= fallbackFrom(entry);
        bytes memory data = abi.encodeCall(escrow.settleFallback, (entry.terms));
        if (act(Action.Fallback, caller, address(escrow), data, expected)) bookSettlement(entry, true, false);
    }

    function _oracleSettle(uint256 seed, Entry storage entry) private {
        bool contradicted = roll(seed, "contradicted", 2) == 0;
        bool earned = roll(seed, "earned", 2) == 0;
        bool expected = !escrow.paused() && !entry.settled && clock >= entry.terms.windowEnd && (!earned || entry.bound);
        bytes memory data = abi.encodeCall(escrow.settle, (entry.terms, contradicted, earned));
        if (!act(Action.OracleSettle, oracle, address(escrow), data, expected)) return;
        bookSettlement(entry, contradicted, earned);
    }

    /// @dev Counts what the books expect of one escrow of a batch; whether it came so is seen in the records and in the logs.
    function _count(Action action, bool expected) private returns (bool) {
        if (expected) {
            ++successes[uint256(action)];
        } else {
            ++refusals[uint256(action)];
            ++expectedSkips;
        }
        return expected;
    }

    function _somePicks(uint256 seed) private view returns (uint256[4] memory picks) {
        for (uint256 i = 0; i < 3; ++i) picks[i] = uint256(keccak256(abi.encode(seed, "pick", i))) % entries.length;
        picks[3] = picks[roll(seed, "twice", 3)];
    }

    function _altered(CommissionEscrow.Terms memory terms) private pure returns (CommissionEscrow.Terms memory copy) {
        copy = abi.decode(abi.encode(terms), (CommissionEscrow.Terms));
        copy.heldBack += 1;
    }

    function _attack(address attacker, address target, bytes memory data) private {
        act(Action.Attack, attacker, target, data, false);
    }

    /// @dev Sometimes to the very second, sometimes one too short, mostly not at all.
    function _wait(uint256 seed, uint256 until) private {
        uint256 what = roll(seed, "wait", 6);
        if (what > 2 || clock >= until - 1) return;
        clock = what == 0 ? until - 1 : until;
        vm.warp(clock);
    }

    /// @dev Mostly an open one.
    function _anEntry(uint256 seed) private view returns (Entry storage entry) {
        uint256 i = roll(seed, "entry", entries.length);
        entry = entries[i];
        for (uint256 k = 0; k < 5 && entry.settled; ++k) entry = entries[(i + k) % entries.length];
    }

    function _claimable(address target, address account) private view returns (uint256) {
        return target == address(router) ? router.claimable(account) : escrow.claimable(account);
    }
}
