// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Vm} from "forge-std/Vm.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {ICommissionEscrowEvents} from "../../src/interfaces/ICommissionEscrowEvents.sol";
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
        TakeBack,
        Deposit,
        SplitDeposit,
        TakeBackDeposit,
        Bind,
        ReleaseCashback,
        OracleSettle,
        ReleaseInBatch,
        OracleSettleInBatch,
        Fallback,
        CollectFees,
        Claim,
        ClaimForAgent,
        Donate,
        Block,
        Unblock,
        PauseEscrow,
        ResumeEscrow,
        PauseToken,
        OpenMerchant,
        CloseMerchant,
        Suspend,
        TransferMerchant,
        SetPayout,
        SetProductTerms,
        SetProductActive,
        SetProductCard,
        SetMerchantRole,
        ListProduct,
        MoveAgent,
        ReplaceEscrow,
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

    /// @notice Who ran a merchant last, and where that owner wants the money.
    struct Shop {
        address runBy;
        address payout;
        bool active;
        bool suspended;
    }

    struct Goods {
        uint16 commissionBps;
        uint64 minPrice;
        bool active;
    }

    bytes32 internal constant OTHER_PRODUCT = keccak256("other product");
    bytes32 internal constant SIGNER_ROLE = keccak256("SETTLEMENT_SIGNER_ROLE");

    /// @dev Time does not survive from one call of a campaign to the next, so the books keep it.
    uint256 internal clock;

    address[] internal accounts;
    uint256[] internal merchantIds;
    mapping(uint256 merchantId => Shop) internal shops;
    mapping(uint256 merchantId => mapping(bytes32 productId => Goods)) internal goods;
    /// @dev Whether an owner made the stranger a signer of its merchant.
    mapping(uint256 merchantId => mapping(address owner => bool)) internal strangerSigns;

    /// @dev What an account owns: its balance and what it can claim.
    mapping(address account => uint256) internal wealth;
    uint256 internal minted;
    uint256 internal fees;
    /// @dev Money in the router that nobody was paid yet, and money in the escrow that belongs to no escrow.
    uint256 internal strays;
    uint256 internal surplus;
    /// @dev When the last pause of the escrow ended.
    uint256 internal resumedAt;
    /// @dev While the identity registry does not tell anybody's wallet.
    bool internal walletsUnknown;
    /// @dev What waits for an identity since such a time, and for which ones anything ever did.
    mapping(uint256 agentId => uint256) internal waiting;
    uint256[] internal waitedFor;

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
    /// @dev How many escrows of batches were skipped: by the logs, and by the books.
    uint256 internal skips;
    uint256 internal expectedSkips;

    mapping(uint256 action => uint256) public successes;
    mapping(uint256 action => uint256) public refusals;
    mapping(bytes4 reason => uint256) public refusedFor;
    uint256 internal surprises;
    string internal firstSurprise;

    // ---- acting

    /// @dev Calls as `caller`; that it succeeds when it must not, or the other way round, breaks an invariant.
    function act(Action action, address caller, address target, bytes memory data, bool expected)
        internal
        returns (bool ok)
    {
        vm.prank(caller);
        bytes memory answer;
        (ok, answer) = target.call(data);
        if (ok) {
            ++successes[uint256(action)];
        } else {
            ++refusals[uint256(action)];
            ++refusedFor[bytes4(answer)];
        }
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
        uint256 cashback = entry.released ? 0 : entry.terms.cashback;
        if (contradicted) credit(treasury, entry.terms.heldBack);
        if (earned) credit(entry.terms.payer, cashback);
        uint256 agentId = entry.terms.reviewerAgentId;
        uint256 toReviewer = (contradicted ? 0 : entry.terms.heldBack) + (earned ? 0 : cashback);
        if (!walletsUnknown) return credit(payeeOf(agentId), toReviewer);
        waiting[agentId] += toReviewer;
        for (uint256 i = 0; i < waitedFor.length; ++i) if (waitedFor[i] == agentId) return;
        waitedFor.push(agentId);
    }

    // ---- what the rules say

    function partsOf(uint256 price, SplitRouter.Attribution memory a)
        internal
        view
        returns (uint256 commission, uint256 fee, uint256 cashback, uint256 heldBack)
    {
        uint256 rate = goods[a.merchantId][a.productId].commissionBps;
        commission = price * rate * a.commissionMultiplierBps / 1e8;
        fee = commission / 10;
        cashback = commission * a.cashbackOfCommissionBps / 1e4;
        heldBack = (commission - fee - cashback) / 2;
    }

    function payeeOf(uint256 agentId) internal view returns (address payee) {
        payee = agentWalletOf(agentId);
        if (payee == address(0)) payee = identities.ownerOf(agentId);
    }

    function agentWalletOf(uint256 agentId) internal view returns (address) {
        return walletsUnknown ? address(0) : identities.getAgentWallet(agentId);
    }

    /// @dev A first act in a shop that another ran before closes it, and from then on it pays the new owner.
    function adopt(uint256 id, address owner) internal {
        Shop storage shop = shops[id];
        if (shop.runBy == owner) return;
        shop.runBy = owner;
        shop.payout = owner;
        shop.active = false;
    }

    function fallbackFrom(Entry storage entry) internal view returns (uint256) {
        uint256 windowEnd = entry.terms.windowEnd;
        return (resumedAt > windowEnd ? resumedAt : windowEnd) + 10 days;
    }

    function canSplit(address payer, uint256 price, SplitRouter.Attribution memory a) internal view returns (bool) {
        Shop memory shop = shops[a.merchantId];
        if (!shop.active || shop.suspended || shop.runBy != identities.ownerOf(a.merchantId)) return false;
        Goods memory sold = goods[a.merchantId][a.productId];
        if (!sold.active || price < sold.minPrice) return false;
        if (a.commissionMultiplierBps < 4_000 || a.commissionMultiplierBps > 10_000) return false;
        if (walletsUnknown) return false;
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
        if (!mayBuyAs(p.authorization.from, p.attribution.buyerAgentId)) return false;
        return authorId == p.attribution.reviewerAgentId && aboutId == p.attribution.merchantId
            && identities.ownerOf(authorId) != p.authorization.from;
    }

    /// @dev Without a settler to vouch for it, a wallet buys for itself, for its own agent or for the agent whose wallet it is.
    function mayBuyAs(address payer, uint256 agentId) internal view returns (bool) {
        return agentId == type(uint256).max || identities.ownerOf(agentId) == payer || agentWalletOf(agentId) == payer;
    }

    // ---- the logs

    function readLogs() internal {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            bytes32 topic = logs[i].topics[0];
            if (logs[i].emitter == address(escrow) && topic == ICommissionEscrowEvents.EscrowDeposited.selector) {
                CommissionEscrow.Terms memory terms = decodeDeposit(logs[i]);
                publishedTerms[terms.escrowId] = keccak256(abi.encode(terms));
                ++publishedCount;
                ++outcomes[terms.payer][terms.nonce];
                _requireOneOutcome(terms.payer, terms.nonce);
            } else if (logs[i].emitter == address(router) && topic == SplitRouter.PaymentRefunded.selector) {
                address payer = address(uint160(uint256(logs[i].topics[1])));
                ++outcomes[payer][logs[i].topics[2]];
                _requireOneOutcome(payer, logs[i].topics[2]);
            } else if (logs[i].emitter == address(router) && topic == SplitRouter.PurchaseFailed.selector) {
                ++refusedFor[bytes4(abi.decode(logs[i].data, (bytes)))];
            } else if (logs[i].emitter == address(escrow) && topic == ICommissionEscrowEvents.EscrowSkipped.selector) {
                ++refusedFor[bytes4(abi.decode(logs[i].data, (bytes)))];
                ++skips;
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
        for (uint256 i = 0; i < waitedFor.length; ++i) {
            assertEq(escrow.claimableByAgent(waitedFor[i]), waiting[waitedFor[i]], "escrow: waits for an agent");
            claims += waiting[waitedFor[i]];
        }
        assertEq(escrow.totalHeld(), held, "escrow: held");
        assertEq(escrow.fees(), fees, "escrow: fees");
        assertEq(escrow.resumedAt(), resumedAt, "escrow: end of the last pause");
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
        assertEq(skips, expectedSkips, "escrows that batches skipped");
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

    function checkMerchants() external view {
        for (uint256 i = 0; i < merchantIds.length; ++i) {
            uint256 id = merchantIds[i];
            Shop memory shop = shops[id];
            address owner = identities.ownerOf(id);
            bool own = shop.runBy == owner;
            assertEq(merchants.isActive(id), own && shop.active && !shop.suspended, "merchant active");
            assertEq(merchants.payoutWallet(id), own ? shop.payout : address(0), "merchant payout");
            assertEq(merchants.hasRole(id, SIGNER_ROLE, stranger), strangerSigns[id][owner], "merchant signer");
            _checkProduct(id, PRODUCT);
            _checkProduct(id, OTHER_PRODUCT);
        }
    }

    function checkSurprises() external view {
        assertEq(surprises, 0, firstSurprise);
    }

    function _checkProduct(uint256 id, bytes32 productId) private view {
        MerchantRegistry.Product memory product = merchants.getProduct(id, productId);
        Goods memory sold = goods[id][productId];
        assertEq(product.commissionBps, sold.commissionBps, "product commission");
        assertEq(product.minPrice, sold.minPrice, "product least price");
        assertEq(product.active, sold.active, "product active");
    }
}
