// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Vm} from "forge-std/Vm.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {MarketTest} from "../base/MarketTest.sol";

/// @notice A second set of books, kept beside the contracts and by the written rules alone: what everybody must own, which escrows are
/// open, what lies in the router unsplit. The checks at the end compare the two.
abstract contract Books is MarketTest {
    /// @notice What the actors do; successes and refusals are counted for each.
    enum Action {
        Settle,
        SettleCommitted,
        SettleInBatch,
        FrontRun,
        Cancel,
        Finish,
        Refund,
        Deposit,
        SplitDeposit,
        RefundDeposit,
        Bind,
        ReleaseCashback,
        OracleSettle,
        Fallback,
        CollectFees,
        Claim,
        Donate,
        Block,
        Unblock,
        PauseEscrow,
        PauseToken,
        OpenMerchant,
        CloseMerchant,
        Suspend,
        TransferMerchant,
        SetPayout,
        SetProduct,
        MoveReviewer,
        Publish,
        AttackerBuys,
        Attack
    }

    struct Entry {
        CommissionEscrow.Terms terms;
        bool bound;
        bool released;
        bool settled;
        bool reviewed;
    }

    /// @notice A payment that lies in the router until it is split or given back.
    struct Arrived {
        SplitRouter.Purchase purchase;
        bool done;
    }

    struct Deposited {
        SplitRouter.Charge charge;
        SplitRouter.Attribution attribution;
        bool done;
    }

    /// @notice Who opened a merchant last, and where that owner wants the money.
    struct Shop {
        address openedBy;
        address payout;
        bool active;
        bool suspended;
    }

    bytes32 internal constant OTHER_PRODUCT = keccak256("other product");

    /// @dev Time does not survive from one call of a campaign to the next, so the books keep it.
    uint256 internal clock;

    address[] internal accounts;
    uint256[] internal merchantIds;
    mapping(uint256 merchantId => Shop) internal shops;

    /// @dev What an account owns: its balance and what it can claim.
    mapping(address account => uint256) internal wealth;
    uint256 internal minted;
    uint256 internal fees;
    /// @dev Money in the router that nobody was paid yet, and money in the escrow that belongs to no escrow.
    uint256 internal strays;
    uint256 internal surplus;

    Entry[] internal entries;
    Arrived[] internal arrived;
    Deposited[] internal deposits;
    uint256 internal reviewCount;

    /// @dev Authorisations the token will not take again, and those that never moved money.
    mapping(address payer => mapping(bytes32 nonce => bool)) internal consumed;
    mapping(address payer => mapping(bytes32 nonce => bool)) internal cancelled;

    /// @dev Read from the logs, not derived: how often a payment was split or given back, and the terms each escrow was published with.
    mapping(address payer => mapping(bytes32 nonce => uint256)) internal outcomes;
    mapping(uint256 escrowId => bytes32) internal publishedTerms;
    uint256 internal publishedCount;

    mapping(uint256 action => uint256) public successes;
    mapping(uint256 action => uint256) public refusals;
    uint256 internal surprises;
    string internal firstSurprise;

    // ---- acting

    /// @dev Calls as `caller`; that it succeeds when it must not, or the other way round, breaks an invariant.
    function act(Action action, address caller, address target, bytes memory data, bool expected)
        internal
        returns (bool ok)
    {
        vm.prank(caller);
        (ok,) = target.call(data);
        ok ? ++successes[uint256(action)] : ++refusals[uint256(action)];
        if (ok != expected) surprise(action, ok ? "succeeded" : "was refused");
    }

    /// @dev Told by the action's number in `Action`, from 0.
    function surprise(Action action, string memory what) internal {
        if (surprises++ == 0) firstSurprise = string.concat("action ", vm.toString(uint256(action)), " ", what);
    }

    // ---- booking

    function credit(address account, uint256 amount) internal {
        if (account == address(router)) strays += amount;
        else if (account == address(escrow)) surplus += amount;
        else wealth[account] += amount;
    }

    /// @dev Books a sale whose price has been taken from somebody already.
    function bookSale(address payer, bytes32 nonce, uint256 price, SplitRouter.Attribution memory a) internal {
        (uint256 commission, uint256 fee, uint256 cashback, uint256 heldBack) = partsOf(price, a);
        credit(shops[a.merchantId].payout, price - commission);
        credit(payeeOf(a.reviewerAgentId), commission - fee - cashback - heldBack);
        fees += fee;
        Entry storage entry = entries.push();
        entry.bound = a.buyerAgentId != type(uint256).max;
        entry.terms = CommissionEscrow.Terms({
            escrowId: entries.length,
            payer: payer,
            nonce: nonce,
            merchantId: a.merchantId,
            productId: a.productId,
            reviewId: a.reviewId,
            reviewerAgentId: a.reviewerAgentId,
            buyerAgentId: a.buyerAgentId,
            heldBack: heldBack,
            cashback: cashback,
            windowEnd: clock + 60 days
        });
    }

    function bookSettlement(Entry storage entry, bool contradicted, bool earned) internal {
        entry.settled = true;
        address payee = payeeOf(entry.terms.reviewerAgentId);
        credit(contradicted ? treasury : payee, entry.terms.heldBack);
        if (!entry.released) credit(earned ? entry.terms.payer : payee, entry.terms.cashback);
    }

    // ---- what the rules say

    function partsOf(uint256 price, SplitRouter.Attribution memory a)
        internal
        view
        returns (uint256 commission, uint256 fee, uint256 cashback, uint256 heldBack)
    {
        uint256 rate = merchants.getProduct(a.merchantId, a.productId).commissionBps;
        commission = price * rate * a.commissionMultiplierBps / 1e8;
        fee = commission / 10;
        cashback = commission * a.cashbackOfCommissionBps / 1e4;
        heldBack = (commission - fee - cashback) / 2;
    }

    function payeeOf(uint256 agentId) internal view returns (address payee) {
        payee = identities.getAgentWallet(agentId);
        if (payee == address(0)) payee = identities.ownerOf(agentId);
    }

    function canSplit(address payer, uint256 price, SplitRouter.Attribution memory a) internal view returns (bool) {
        Shop memory shop = shops[a.merchantId];
        if (!shop.active || shop.suspended || shop.openedBy != identities.ownerOf(a.merchantId)) return false;
        if (!merchants.getProduct(a.merchantId, a.productId).active) return false;
        if (a.commissionMultiplierBps < 4_000 || a.commissionMultiplierBps > 10_000) return false;
        if (price == 0 || a.cashbackOfCommissionBps > 4_000 || payeeOf(a.reviewerAgentId) == payer) return false;
        (, uint256 fee, uint256 cashback, uint256 heldBack) = partsOf(price, a);
        return !escrow.paused() && (!usdc.paused() || fee + cashback + heldBack == 0);
    }

    function canSettle(SplitRouter.Purchase memory p, bool trusted) internal view returns (bool) {
        SplitRouter.Authorization memory z = p.authorization;
        if (consumed[z.from][z.nonce] || z.validBefore <= clock || usdc.paused() || usdc.isBlacklisted(z.from)) {
            return false;
        }
        if (!trusted && !isCommitted(p)) return false;
        return canSplit(z.from, z.value, p.attribution);
    }

    function isCommitted(SplitRouter.Purchase memory p) internal view returns (bool) {
        if (p.authorization.nonce != router.attributionNonce(p.attribution)) return false;
        (uint256 authorId, uint256 aboutId) = reviews.authorOf(p.attribution.reviewId);
        return authorId == p.attribution.reviewerAgentId && aboutId == p.attribution.merchantId
            && identities.ownerOf(authorId) != p.authorization.from;
    }

    // ---- the logs

    function readLogs() internal {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            bytes32 topic = logs[i].topics[0];
            if (logs[i].emitter == address(escrow) && topic == CommissionEscrow.EscrowDeposited.selector) {
                CommissionEscrow.Terms memory terms = decodeDeposit(logs[i]);
                publishedTerms[terms.escrowId] = keccak256(abi.encode(terms));
                ++publishedCount;
                ++outcomes[terms.payer][terms.nonce];
                _requireOneOutcome(terms.payer, terms.nonce);
            } else if (logs[i].emitter == address(router) && topic == SplitRouter.PaymentRefunded.selector) {
                address payer = address(uint160(uint256(logs[i].topics[1])));
                ++outcomes[payer][logs[i].topics[2]];
                _requireOneOutcome(payer, logs[i].topics[2]);
            }
        }
    }

    function _requireOneOutcome(address payer, bytes32 nonce) private {
        if (outcomes[payer][nonce] > 1) surprise(Action.Settle, "and another paid the same payment out");
        if (cancelled[payer][nonce]) surprise(Action.Cancel, "did not keep a payment from being paid out");
    }

    // ---- the checks

    function checkEscrow() external view {
        uint256 held;
        for (uint256 i = 0; i < entries.length; ++i) {
            Entry storage entry = entries[i];
            if (!entry.settled) held += entry.terms.heldBack + (entry.released ? 0 : entry.terms.cashback);
        }
        uint256 claims;
        for (uint256 i = 0; i < accounts.length; ++i) claims += escrow.claimable(accounts[i]);
        assertEq(escrow.totalHeld(), held, "escrow: held");
        assertEq(escrow.fees(), fees, "escrow: fees");
        assertEq(escrow.totalClaimable(), claims, "escrow: claims");
        assertEq(usdc.balanceOf(address(escrow)), escrow.owed() + surplus, "escrow: balance");
    }

    function checkRouter() external view {
        uint256 claims;
        for (uint256 i = 0; i < accounts.length; ++i) claims += router.claimable(accounts[i]);
        uint256 pending;
        for (uint256 i = 0; i < arrived.length; ++i) {
            if (!arrived[i].done) pending += arrived[i].purchase.authorization.value;
        }
        for (uint256 i = 0; i < deposits.length; ++i) if (!deposits[i].done) pending += deposits[i].charge.value;
        assertEq(router.totalClaimable(), claims, "router: claims");
        assertEq(router.unsplit(), strays, "router: unsplit");
        assertEq(usdc.balanceOf(address(router)), claims + strays, "router: balance");
        assertLe(pending, strays, "router: covers what is still to be split");
    }

    function checkWealth() external view {
        uint256 sum = usdc.balanceOf(address(router)) + usdc.balanceOf(address(escrow));
        for (uint256 i = 0; i < accounts.length; ++i) {
            address account = accounts[i];
            uint256 balance = usdc.balanceOf(account);
            sum += balance;
            assertEq(
                balance + router.claimable(account) + escrow.claimable(account),
                wealth[account],
                string.concat("wealth of account ", vm.toString(i))
            );
        }
        assertEq(sum, minted, "all money");
        assertEq(usdc.totalSupply(), minted, "supply");
    }

    function checkRecords() external view {
        assertEq(publishedCount, entries.length, "one escrow for each sale");
        assertEq(escrow.lastEscrowId(), entries.length, "escrow ids count sales");
        assertEq(reviews.lastReviewId(), reviewCount, "review ids count reviews");
        for (uint256 i = 0; i < entries.length; ++i) {
            Entry storage entry = entries[i];
            CommissionEscrow.Terms memory terms = entry.terms;
            (uint256 escrowId, CommissionEscrow.State state, bool bound, bool released) =
                escrow.escrowOf(terms.payer, terms.nonce);
            assertEq(escrowId, i + 1, "escrow id");
            assertEq(state == CommissionEscrow.State.Settled, entry.settled, "escrow settled");
            assertEq(bound, entry.bound, "escrow bound");
            assertEq(released, entry.released, "escrow released");
            escrow.requireTerms(terms);
        }
    }

    function checkSurprises() external view {
        assertEq(surprises, 0, firstSurprise);
    }
}
