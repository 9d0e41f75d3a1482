// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {EscrowTest} from "../base/EscrowTest.sol";

/// @notice Reading an escrow: `escrowOf`, `requireTerms`, and what was fixed at deployment.
contract EscrowOfTest is EscrowTest {
    function test_succeeds_whenThePaymentWasNeverSplit() public view {
        assertEscrow(buyer.addr, "never", 0, CommissionEscrow.State.None, false, false);
    }

    /// [CHAIN-19]
    function test_succeeds_inEveryState() public {
        CommissionEscrow.Terms memory terms = buyAgentless();
        assertEscrow(terms.payer, terms.nonce, 1, CommissionEscrow.State.Holding, false, false);
        terms = buy();
        assertEscrow(terms.payer, terms.nonce, 2, CommissionEscrow.State.Holding, true, false);
        releaseCashback(terms);
        assertEscrow(terms.payer, terms.nonce, 2, CommissionEscrow.State.Holding, true, true);
        vm.warp(terms.windowEnd);
        settleEscrow(terms, false, false);
        assertEscrow(terms.payer, terms.nonce, 2, CommissionEscrow.State.Settled, true, true);
    }

    function test_succeeds_whenTermsArePresentSettledOrNot() public {
        CommissionEscrow.Terms memory terms = buy();
        escrow.requireTerms(terms);
        vm.warp(terms.windowEnd);
        settleEscrow(terms, false, false);
        escrow.requireTerms(terms);
    }

    function test_reverts_whenTermsAreNotPresent() public {
        CommissionEscrow.Terms memory terms = buyAgentless();
        for (uint256 field = 0; field < ALTERABLE_FIELDS; ++field) {
            CommissionEscrow.Terms memory copy = altered(terms, field);
            vm.expectRevert(termsMismatch(copy));
            escrow.requireTerms(copy);
        }
        uint256 agentId = registerIdentity(walletBuyer.addr);
        vm.prank(walletBuyer.addr);
        escrow.bind(terms, agentId);
        vm.expectRevert(termsMismatch(terms));
        escrow.requireTerms(terms);
    }

    /// @dev An escrow's id is in the record beside its digest: no escrow answers for another of the same payer.
    function test_reverts_whenTermsAreOfAnotherEscrow() public {
        CommissionEscrow.Terms memory first = buy();
        CommissionEscrow.Terms memory second = buy();
        second.nonce = first.nonce;
        vm.expectRevert(termsMismatch(second));
        escrow.requireTerms(second);
    }

    /// [CHAIN-07] [CHAIN-43]
    function test_succeeds_whenReadingWhatWasFixedAtDeployment() public view {
        assertEq(escrow.AGENTLESS(), type(uint256).max);
        assertEq(escrow.WINDOW(), 60 days);
        assertEq(escrow.FALLBACK_DELAY(), 10 days);
        assertEq(address(escrow.TOKEN()), address(usdc));
        assertEq(address(escrow.ADDRESSES()), address(addresses));
        assertEq(address(escrow.IDENTITIES()), address(identities));
    }

    function assertEscrow(
        address payer,
        bytes32 nonce,
        uint256 expectedId,
        CommissionEscrow.State expectedState,
        bool expectedBound,
        bool expectedReleased
    ) private view {
        (uint256 escrowId, CommissionEscrow.State state, bool bound_, bool released) = escrow.escrowOf(payer, nonce);
        assertEq(escrowId, expectedId, "escrow id");
        assertEq(uint256(state), uint256(expectedState), "state");
        assertEq(bound_, expectedBound, "bound");
        assertEq(released, expectedReleased, "released");
    }
}
