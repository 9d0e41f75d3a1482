// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {ICommissionEscrowEvents} from "../../src/interfaces/ICommissionEscrowEvents.sol";
import {MarketTest} from "./MarketTest.sol";

/// @notice Escrows in every state, and every way to get their terms wrong.
abstract contract EscrowTest is MarketTest {
    /// @dev How many fields terms have besides the two that name the record.
    uint256 internal constant ALTERABLE_FIELDS = 9;

    function settleEscrow(CommissionEscrow.Terms memory terms, bool contradicted, bool cashbackEarned) internal {
        vm.prank(oracle);
        escrow.settle(terms, contradicted, cashbackEarned);
    }

    function releaseCashback(CommissionEscrow.Terms memory terms) internal {
        vm.prank(oracle);
        escrow.releaseCashback(terms);
    }

    function pauseEscrow() internal {
        vm.prank(guardian);
        escrow.pause();
    }

    /// @dev A copy of the terms with one field changed.
    function altered(CommissionEscrow.Terms memory terms, uint256 field)
        internal
        pure
        returns (CommissionEscrow.Terms memory copy)
    {
        copy = abi.decode(abi.encode(terms), (CommissionEscrow.Terms));
        if (field == 0) copy.escrowId += 1;
        if (field == 1) copy.merchantId += 1;
        if (field == 2) copy.productId = keccak256("altered");
        if (field == 3) copy.reviewId += 1;
        if (field == 4) copy.reviewerAgentId += 1;
        if (field == 5) copy.buyerAgentId = 0;
        if (field == 6) copy.heldBack += 1;
        if (field == 7) copy.cashback -= 1;
        if (field == 8) copy.windowEnd -= 1;
    }

    function termsMismatch(CommissionEscrow.Terms memory terms) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(ICommissionEscrowErrors.TermsMismatch.selector, terms.escrowId);
    }

    function alreadySettled(CommissionEscrow.Terms memory terms) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(ICommissionEscrowErrors.AlreadySettled.selector, terms.escrowId);
    }

    function assertState(CommissionEscrow.Terms memory terms, CommissionEscrow.State expected) internal view {
        (uint256 escrowId, CommissionEscrow.State state,,) = escrow.escrowOf(terms.payer, terms.nonce);
        assertEq(escrowId, terms.escrowId, "escrow id");
        assertEq(uint256(state), uint256(expected), "state");
    }

    /// @dev What has reached the parties of one `buy()` or `buyAgentless()` beyond its immediate parts.
    function assertPaidOut(uint256 toReviewer, uint256 toTreasury, uint256 toPayer, address payer) internal view {
        assertBalance(reviewer.addr, IMMEDIATE + toReviewer, "reviewer");
        assertBalance(treasury, toTreasury, "treasury");
        assertBalance(payer, FUNDS - PRICE + toPayer, "payer");
        assertBalance(
            address(escrow), FEE + HELD_BACK + CASHBACK - toReviewer - toTreasury - toPayer, "escrow"
        );
        assertEq(escrow.owed(), usdc.balanceOf(address(escrow)), "owed");
    }

    function expectSettled(
        CommissionEscrow.Terms memory terms,
        address settledBy,
        bool fallbackUsed,
        uint256[4] memory amounts
    ) internal {
        vm.expectEmit(address(escrow));
        emit ICommissionEscrowEvents.EscrowSettled(
            terms.escrowId, settledBy, fallbackUsed, amounts[0], amounts[1], amounts[2], amounts[3]
        );
    }
}
